package dev.cay.config;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Turns `cay.yaml`, `CAY_*` variables and command-line options into a checked {@link CayConfig}. Options win over
/// variables, variables over the file, the file over the defaults.
public final class ConfigLoader {
    /// The file that is read when no other file is named; it need not exist.
    public static final Path DEFAULT_FILE = Path.of("/etc/cay/cay.yaml");

    /// The variable that names the file. Every other variable that begins with `CAY_` must be a key or one of these.
    public static final String FILE_VARIABLE = "CAY_CONFIG";

    /// Sections about the MCP catalog, whose own reader checks them as strictly.
    private static final Set<String> OPEN_SECTIONS = Set.of("mcp.servers", "mcp.interceptors");

    private static final Set<String> LAUNCHER_VARIABLES = Set.of(FILE_VARIABLE, "CAY_JAVA_OPTS", "CAY_BUILD");

    private record Given(String text, String source) {}

    private final List<String> problems = new ArrayList<>();
    private final Map<String, Given> given = new LinkedHashMap<>();
    private final List<LoadedConfig.Setting> settings = new ArrayList<>();
    private @Nullable Path fileRead;

    private ConfigLoader() {}

    /// Throws one {@link CayException} that lists every problem, one per line.
    ///
    /// @param file    null means what `CAY_CONFIG` names, else {@link #DEFAULT_FILE} if that exists
    /// @param options texts by key name, like `http.port`; what the command line said
    public static LoadedConfig load(@Nullable Path file, Map<String, String> environment, Map<String, String> options) {
        var loader = new ConfigLoader();
        loader.takeFile(file, environment);
        loader.takeVariables(environment);
        options.forEach((name, text) -> loader.given.put(name, new Given(text, "command line")));
        CayConfig config = loader.assemble();
        loader.checkTogether(config);
        if (!loader.problems.isEmpty()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, String.join("\n", loader.problems));
        }
        return new LoadedConfig(config, loader.settings);
    }

    private void takeFile(@Nullable Path named, Map<String, String> environment) {
        String variable = environment.getOrDefault(FILE_VARIABLE, "");
        Path file = named != null ? named : variable.isEmpty() ? DEFAULT_FILE : Path.of(variable);
        if (file.equals(DEFAULT_FILE) && named == null && !Files.exists(file)) {
            return;
        }
        fileRead = file;
        var names = ConfigKeys.all().stream().map(ConfigKey::name).toList();
        for (var entry : ConfigFile.read(file, OPEN_SECTIONS, problems)) {
            String source = file + ":" + entry.line();
            if (names.contains(entry.name())) {
                given.put(entry.name(), new Given(entry.text(), source));
            } else if (names.stream().anyMatch(name -> name.startsWith(entry.name() + "."))) {
                problems.add("%s: %s is a section; its keys go below it, indented".formatted(source, entry.name()));
            } else {
                problems.add(unknown(source + ": unknown key " + entry.name(), entry.name(), names));
            }
        }
    }

    private void takeVariables(Map<String, String> environment) {
        var keys = new TreeMap<String, ConfigKey<?>>();
        ConfigKeys.all().forEach(key -> keys.put(key.variable(), key));
        new TreeMap<>(environment).forEach((name, text) -> {
            if (!name.startsWith("CAY_") || LAUNCHER_VARIABLES.contains(name)) {
                return;
            }
            ConfigKey<?> key = keys.get(name);
            if (key == null) {
                problems.add(unknown("unknown variable " + name, name, keys.keySet()));
            } else {
                given.put(key.name(), new Given(text.strip(), name));
            }
        });
    }

    private static String unknown(String what, String name, Iterable<String> known) {
        var names = new ArrayList<String>();
        known.forEach(names::add);
        return what
                + Suggestion.of(name, names)
                        .map(suggestion -> "; did you mean " + suggestion + "?")
                        .orElse("; `cay config` lists what there is");
    }

    private CayConfig assemble() {
        return new CayConfig(
                value(ConfigKeys.INSTANCE),
                value(ConfigKeys.STATE_DIR),
                value(ConfigKeys.RUN_DIR),
                value(ConfigKeys.CACHE_DIR),
                new CayConfig.Http(
                        value(ConfigKeys.LISTEN),
                        value(ConfigKeys.PORT),
                        value(ConfigKeys.TLS_PORT),
                        value(ConfigKeys.DOMAIN),
                        value(ConfigKeys.CERTIFICATE).orElse(null),
                        value(ConfigKeys.CERTIFICATE_KEY).orElse(null),
                        value(ConfigKeys.TRUSTED_PROXIES)),
                new CayConfig.Sandboxes(
                        value(ConfigKeys.CPU_COUNT),
                        value(ConfigKeys.MEMORY_MB),
                        value(ConfigKeys.DISK_SIZE_MB),
                        value(ConfigKeys.MAX_PROCESSES),
                        value(ConfigKeys.SPARES),
                        value(ConfigKeys.TIMEOUT),
                        value(ConfigKeys.MAX_TIMEOUT),
                        value(ConfigKeys.KEEP_PAUSED).orElse(null),
                        value(ConfigKeys.PAUSE_AT_STOP),
                        value(ConfigKeys.PROCESS_LOG_BYTES),
                        value(ConfigKeys.LAZY_MEMORY).orElse(null),
                        value(ConfigKeys.FUSE_TEMPLATES)),
                new CayConfig.Pause(
                        value(ConfigKeys.PAUSE_ACK),
                        value(ConfigKeys.PAUSE_FROZEN_MEMORY).orElse(null)),
                new CayConfig.Storage(
                        value(ConfigKeys.POOL_SIZE_MB), value(ConfigKeys.VOLUME_SIZE_MB), value(ConfigKeys.UID_BASE)),
                new CayConfig.Store(
                        value(ConfigKeys.STORE_URL).orElse(null),
                        value(ConfigKeys.STORE_PASSWORD_FILE).orElse(null),
                        value(ConfigKeys.STORE_CONNECTIONS)),
                new CayConfig.Network(
                        value(ConfigKeys.RANGE),
                        value(ConfigKeys.NAMESERVERS),
                        value(ConfigKeys.TRUST_HOST_CERTIFICATES),
                        value(ConfigKeys.MAX_CONNECTIONS),
                        value(ConfigKeys.BANDWIDTH),
                        value(ConfigKeys.OPEN_ADDRESSES),
                        value(ConfigKeys.EGRESS_ALLOW),
                        value(ConfigKeys.EGRESS_DENY),
                        value(ConfigKeys.EGRESS_NAMES)),
                new CayConfig.Templates(
                        value(ConfigKeys.PREPARE),
                        value(ConfigKeys.IMAGES),
                        value(ConfigKeys.BUILDS_PER_TEAM),
                        value(ConfigKeys.MAX_UPLOAD_MB),
                        value(ConfigKeys.KEEP_UNUSED).orElse(null)),
                new CayConfig.Images(
                        value(ConfigKeys.REGISTRIES), value(ConfigKeys.MIRRORS), value(ConfigKeys.MIRRORS_ONLY)),
                new CayConfig.Mcp(
                        value(ConfigKeys.MCP_CATALOGS),
                        value(ConfigKeys.MCP_REPOSITORIES),
                        value(ConfigKeys.MCP_REPOSITORY_TOKENS),
                        value(ConfigKeys.MCP_REMOTE_ADDRESSES),
                        value(ConfigKeys.MCP_META_TOOLS),
                        value(ConfigKeys.MCP_MEMORY_MB),
                        value(ConfigKeys.MCP_MAX_SERVERS),
                        value(ConfigKeys.MCP_CALLBACK_URL).orElse(null),
                        fileRead),
                new CayConfig.Webhooks(value(ConfigKeys.WEBHOOKS_ALLOW)),
                new CayConfig.Teams(value(ConfigKeys.TEAM_LIMITS)),
                new CayConfig.Audit(
                        value(ConfigKeys.AUDIT_KEEP).orElse(null),
                        value(ConfigKeys.AUDIT_READS),
                        value(ConfigKeys.AUDIT_FILE).orElse(null),
                        value(ConfigKeys.AUDIT_SYSLOG).orElse(null)),
                new CayConfig.Logs(
                        value(ConfigKeys.OTLP_ENDPOINT).orElse(null),
                        value(ConfigKeys.OTLP_HEADERS_FILE).orElse(null)),
                new CayConfig.SignIn(
                        value(ConfigKeys.SIGN_IN_URL).orElse(null),
                        value(ConfigKeys.SIGN_IN_ISSUER).orElse(null),
                        value(ConfigKeys.SIGN_IN_CLIENT_ID).orElse(null),
                        value(ConfigKeys.SIGN_IN_SECRET_FILE).orElse(null),
                        value(ConfigKeys.SIGN_IN_DOMAINS)));
    }

    /// Parses a value. An invalid value is noted and replaced by the default, so that all other keys are checked too.
    private <T> T value(ConfigKey<T> key) {
        Given found = given.getOrDefault(key.name(), new Given(key.fallback(), "default"));
        settings.add(new LoadedConfig.Setting(key, found.text(), found.source()));
        try {
            return key.value().parse(found.text());
        } catch (IllegalArgumentException e) {
            problems.add("%s: %s is \"%s\"; it must be %s"
                    .formatted(found.source(), key.name(), key.shown(found.text()), e.getMessage()));
            return key.value().parse(key.fallback());
        }
    }

    private void checkTogether(CayConfig config) {
        var http = config.http();
        if (http.port() == http.tlsPort()) {
            problems.add("%s: http.port and http.tlsPort are both %d; choose two ports"
                    .formatted(source(ConfigKeys.TLS_PORT), http.port()));
        }
        if ((http.certificate() == null) != (http.key() == null)) {
            var missing = http.key() == null ? ConfigKeys.CERTIFICATE_KEY : ConfigKeys.CERTIFICATE;
            var present = http.key() == null ? ConfigKeys.CERTIFICATE : ConfigKeys.CERTIFICATE_KEY;
            problems.add(
                    "%s: %s needs %s; set both or neither".formatted(source(present), present.name(), missing.name()));
        }
        var signIn = config.signIn();
        if (signIn.issuer() != null && signIn.clientId() == null) {
            problems.add("%s: signIn.issuer needs signIn.clientId; set both or neither"
                    .formatted(source(ConfigKeys.SIGN_IN_ISSUER)));
        }
        if (signIn.issuer() == null && !signIn.domains().isEmpty()) {
            problems.add("%s: signIn.domains needs signIn.issuer, which knows the owner of each address"
                    .formatted(source(ConfigKeys.SIGN_IN_DOMAINS)));
        }
        if (config.sandboxes().timeout().compareTo(config.sandboxes().maxTimeout()) > 0) {
            problems.add("%s: sandboxes.timeout is longer than sandboxes.maxTimeout; raise the one or lower the other"
                    .formatted(source(ConfigKeys.TIMEOUT)));
        }
    }

    private String source(ConfigKey<?> key) {
        Given found = given.get(key.name());
        return found == null ? "default" : found.source();
    }
}
