package dev.cay.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class ConfigLoaderTest {
    @TempDir
    private Path directory = Path.of("unset");

    private Path file = Path.of("unset");

    @BeforeEach
    void emptyFile() throws IOException {
        file = Files.createFile(directory.resolve("cay.yaml"));
    }

    @Test
    void namesAndDefaultsStayAsOperatorsKnowThem() {
        assertThat(ConfigKeys.all().stream()
                        .map(key -> key.name() + " = " + key.fallback() + " | " + key.variable())
                        .collect(Collectors.joining("\n")))
                .isEqualTo("""
                        instance = 0 | CAY_INSTANCE
                        stateDir = /var/lib/cay | CAY_STATE_DIR
                        runDir = /run/cay | CAY_RUN_DIR
                        cacheDir = /var/cache/cay | CAY_CACHE_DIR
                        http.listen = 127.0.0.1, ::1 | CAY_HTTP_LISTEN
                        http.port = 3000 | CAY_HTTP_PORT
                        http.tlsPort = 8443 | CAY_HTTP_TLS_PORT
                        http.domain = cay.localhost | CAY_HTTP_DOMAIN
                        http.certificate =  | CAY_HTTP_CERTIFICATE
                        http.key =  | CAY_HTTP_KEY
                        http.trustedProxies =  | CAY_HTTP_TRUSTED_PROXIES
                        sandboxes.cpuCount = 2 | CAY_SANDBOXES_CPU_COUNT
                        sandboxes.memoryMB = 512MB | CAY_SANDBOXES_MEMORY_MB
                        sandboxes.diskSizeMB = 10GB | CAY_SANDBOXES_DISK_SIZE_MB
                        sandboxes.maxProcesses = 1024 | CAY_SANDBOXES_MAX_PROCESSES
                        sandboxes.spares = 32 | CAY_SANDBOXES_SPARES
                        sandboxes.timeout = 5m | CAY_SANDBOXES_TIMEOUT
                        sandboxes.maxTimeout = 24h | CAY_SANDBOXES_MAX_TIMEOUT
                        sandboxes.keepPaused = 30d | CAY_SANDBOXES_KEEP_PAUSED
                        sandboxes.pauseAtStop = reboot | CAY_SANDBOXES_PAUSE_AT_STOP
                        sandboxes.processLogBytes = 1MB | CAY_SANDBOXES_PROCESS_LOG_BYTES
                        sandboxes.lazyMemory = auto | CAY_SANDBOXES_LAZY_MEMORY
                        sandboxes.fuseTemplates =  | CAY_SANDBOXES_FUSE_TEMPLATES
                        pause.ack = frozen | CAY_PAUSE_ACK
                        pause.frozenMemoryMB = auto | CAY_PAUSE_FROZEN_MEMORY_MB
                        storage.poolSizeMB = 20GB | CAY_STORAGE_POOL_SIZE_MB
                        storage.volumeSizeMB = 10GB | CAY_STORAGE_VOLUME_SIZE_MB
                        storage.uidBase = 1000000000 | CAY_STORAGE_UID_BASE
                        store.url =  | CAY_STORE_URL
                        store.passwordFile =  | CAY_STORE_PASSWORD_FILE
                        store.connections = 8 | CAY_STORE_CONNECTIONS
                        network.range = 10.200.0.0/16 | CAY_NETWORK_RANGE
                        network.nameservers =  | CAY_NETWORK_NAMESERVERS
                        network.trustHostCertificates = true | CAY_NETWORK_TRUST_HOST_CERTIFICATES
                        network.maxConnections = 4096 | CAY_NETWORK_MAX_CONNECTIONS
                        network.bandwidthMbit = 0 | CAY_NETWORK_BANDWIDTH_MBIT
                        network.openAddresses =  | CAY_NETWORK_OPEN_ADDRESSES
                        network.egress.allow =  | CAY_NETWORK_EGRESS_ALLOW
                        network.egress.deny =  | CAY_NETWORK_EGRESS_DENY
                        network.egress.names =  | CAY_NETWORK_EGRESS_NAMES
                        templates.prepare = code-interpreter-v1 | CAY_TEMPLATES_PREPARE
                        templates.images =  | CAY_TEMPLATES_IMAGES
                        templates.maxBuilds = 20 | CAY_TEMPLATES_MAX_BUILDS
                        templates.maxUploadMB = 2GB | CAY_TEMPLATES_MAX_UPLOAD_MB
                        templates.keepUnused = 30d | CAY_TEMPLATES_KEEP_UNUSED
                        images.registries =  | CAY_IMAGES_REGISTRIES
                        images.mirrors =  | CAY_IMAGES_MIRRORS
                        images.mirrorsOnly = false | CAY_IMAGES_MIRRORS_ONLY
                        mcp.catalogs =  | CAY_MCP_CATALOGS
                        mcp.repositories = https://github.com/ | CAY_MCP_REPOSITORIES
                        mcp.repositoryTokens =  | CAY_MCP_REPOSITORY_TOKENS
                        mcp.remoteAddresses =  | CAY_MCP_REMOTE_ADDRESSES
                        mcp.metaTools = off | CAY_MCP_META_TOOLS
                        mcp.memoryMB = 1024MB | CAY_MCP_MEMORY_MB
                        mcp.maxServers = 16 | CAY_MCP_MAX_SERVERS
                        mcp.callbackUrl =  | CAY_MCP_CALLBACK_URL
                        webhooks.allow =  | CAY_WEBHOOKS_ALLOW
                        teams.limits = none | CAY_TEAMS_LIMITS
                        audit.keep = 90d | CAY_AUDIT_KEEP
                        audit.reads = false | CAY_AUDIT_READS
                        audit.file =  | CAY_AUDIT_FILE
                        audit.syslog =  | CAY_AUDIT_SYSLOG
                        logs.otlp.endpoint =  | CAY_LOGS_OTLP_ENDPOINT
                        logs.otlp.headersFile =  | CAY_LOGS_OTLP_HEADERS_FILE
                        signIn.url =  | CAY_SIGN_IN_URL
                        signIn.issuer =  | CAY_SIGN_IN_ISSUER
                        signIn.clientId =  | CAY_SIGN_IN_CLIENT_ID
                        signIn.clientSecretFile =  | CAY_SIGN_IN_CLIENT_SECRET_FILE
                        signIn.domains =  | CAY_SIGN_IN_DOMAINS""");
    }

    @Test
    void everyDefaultIsValid() {
        CayConfig config = load(Map.of(), Map.of()).config();
        assertThat(config.http().listen()).containsExactly("127.0.0.1", "::1");
        assertThat(config.sandboxes().diskSizeMB()).isEqualTo(10_240);
        assertThat(config.sandboxes().timeout()).isEqualTo(Duration.ofMinutes(5));
        assertThat(config.storage().poolSizeMB()).isEqualTo(20_480);
        assertThat(config.http().certificate()).isNull();
        assertThat(config.network().nameservers()).isEmpty();
    }

    @Test
    void readsHumanFormsFromTheFile() throws IOException {
        write("""
                http:
                  listen: [0.0.0.0, "::"]
                sandboxes:
                  timeout: 1h30m
                  maxTimeout: 2d
                  keepPaused: never
                  memoryMB: 2GiB
                  processLogBytes: 64KB
                storage:
                  poolSizeMB: 4096
                network:
                  nameservers:
                    - 9.9.9.9
                  trustHostCertificates: no
                """);
        CayConfig config = load(Map.of(), Map.of()).config();
        assertThat(config.http().listen()).containsExactly("0.0.0.0", "::");
        assertThat(config.sandboxes().timeout()).isEqualTo(Duration.ofMinutes(90));
        assertThat(config.sandboxes().maxTimeout()).isEqualTo(Duration.ofDays(2));
        assertThat(config.sandboxes().keepPaused()).isNull();
        assertThat(config.sandboxes().memoryMB()).isEqualTo(2048);
        assertThat(config.sandboxes().processLogBytes()).isEqualTo(65_536);
        assertThat(config.storage().poolSizeMB()).isEqualTo(4096);
        assertThat(config.network().nameservers()).containsExactly("9.9.9.9");
        assertThat(config.network().trustHostCertificates()).isFalse();
    }

    @Test
    void optionsWinOverVariablesOverFileOverDefaults() throws IOException {
        write("http:\n  port: 1001\n  tlsPort: 1002\n  domain: file.example\n");
        var loaded = load(
                Map.of("CAY_HTTP_TLS_PORT", "2002", "CAY_HTTP_DOMAIN", "variable.example", "HOME", "/"),
                Map.of("http.domain", "option.example"));
        assertThat(sources(loaded))
                .containsEntry("http.port", "1001 from " + file + ":2")
                .containsEntry("http.tlsPort", "2002 from CAY_HTTP_TLS_PORT")
                .containsEntry("http.domain", "option.example from command line")
                .containsEntry("stateDir", "/var/lib/cay from default");
        assertThat(loaded.config().http().domain()).isEqualTo("option.example");
    }

    @Test
    void namesEveryProblemAtOnceWithPlaceAndMend() throws IOException {
        write("""
                stateDir: lib/cay
                http:
                  prot: 3000
                  port: 99999
                sandboxes:
                  timeout: soon
                storage: big
                network:
                  range: 10.200.1.7/16
                """);
        assertThat(problems(Map.of("CAY_SANDBOXES_MEMORY_MB", "much", "CAY_PORT", "1"), Map.of()))
                .containsExactlyInAnyOrder(
                        file + ":1: stateDir is \"lib/cay\"; it must be an absolute path",
                        file + ":3: unknown key http.prot; did you mean http.port?",
                        file + ":4: http.port is \"99999\"; it must be a whole number from 1 to 65535",
                        file + ":6: sandboxes.timeout is \"soon\"; it must be a time like 90s, 5m, 1h30m or 2d, "
                                + "from 1s to 8760h",
                        file + ":7: storage is a section; its keys go below it, indented",
                        file + ":9: network.range is \"10.200.1.7/16\"; it must be a private IPv4 range such as "
                                + "10.200.0.0/16, with a prefix from /12 to /24; the address must be the first of "
                                + "the range",
                        "CAY_SANDBOXES_MEMORY_MB: sandboxes.memoryMB is \"much\"; it must be a size like 512MB or "
                                + "20GB, from 128MB to 16777216MB",
                        "unknown variable CAY_PORT; did you mean CAY_HTTP_PORT?");
    }

    @Test
    void refusesAKeyThatIsGivenTwice() throws IOException {
        write("instance: a\ninstance: b\n");
        assertThat(problems(Map.of(), Map.of())).singleElement().asString().contains("cay.yaml:2", "instance");
    }

    @Test
    void saysWhereAFileIsNotYaml() throws IOException {
        write("http:\n  port: [1\n");
        assertThat(problems(Map.of(), Map.of())).singleElement().asString().contains("not YAML");
    }

    @Test
    void aNamedFileMustExist() {
        file = directory.resolve("other.yaml");
        assertThat(problems(Map.of(), Map.of())).singleElement().asString().contains("does not exist");
    }

    @Test
    void findsTheFileThatTheVariableNames() throws IOException {
        write("instance: seven\n");
        var loaded = ConfigLoader.load(null, Map.of("CAY_CONFIG", file.toString()), Map.of());
        assertThat(loaded.config().instance()).isEqualTo("seven");
    }

    @Test
    void checksKeysThatBelongTogether() {
        assertThat(problems(
                        Map.of(
                                "CAY_HTTP_CERTIFICATE", "/etc/cay/chain.pem",
                                "CAY_HTTP_TLS_PORT", "3000",
                                "CAY_SANDBOXES_TIMEOUT", "25h"),
                        Map.of()))
                .hasSize(3)
                .anySatisfy(line -> assertThat(line).contains("http.certificate needs http.key"))
                .anySatisfy(line -> assertThat(line).contains("both 3000"))
                .anySatisfy(line -> assertThat(line).contains("maxTimeout"));
    }

    @Test
    void whatIsSaidOfMcpServersIsLeftToTheirCatalog() throws IOException {
        write(
                "mcp:\n  catalogs: [/etc/cay/mine.yaml]\n  servers: {notion: {env: {A: b}, launch: {command: [x, y]}}}\n");
        assertThat(load(Map.of(), Map.of()).config().mcp())
                .isEqualTo(new CayConfig.Mcp(
                        List.of(Path.of("/etc/cay/mine.yaml")),
                        "https://github.com/",
                        List.of(),
                        List.of(),
                        "off",
                        1024,
                        16,
                        null,
                        file));
        write("mcp:\n  interceptors: [{when: before, exec: [/opt/check, a]}]\n  metaTools: only\nhttp: {port: 4000}\n");
        assertThat(load(Map.of(), Map.of()).config().mcp().metaTools()).isEqualTo("only");
        assertThat(load(Map.of(), Map.of()).config().http().port()).isEqualTo(4000);
        write("mcp:\n  catalogs: [{when: before}]\n");
        assertThat(problems(Map.of(), Map.of())).singleElement().asString().contains("list of plain values");
        write("mcp:\n  memoryMB: 2GB\n  maxServers: 3\n");
        assertThat(load(Map.of(), Map.of()).config().mcp().memoryMB()).isEqualTo(2048);
        assertThat(load(Map.of(), Map.of()).config().mcp().maxServers()).isEqualTo(3);
        write("mcp:\n  repositoryTokens: ['github/acme/*=/etc/cay/a', github/acme/tools@t1=/etc/cay/b]\n");
        assertThat(load(Map.of(), Map.of()).config().mcp().tokens())
                .containsExactly("github/acme/*=/etc/cay/a", "github/acme/tools@t1=/etc/cay/b");
        for (String wrong : List.of("acme/tools=/etc/cay/a", "github/*/x=/etc/cay/a", "github/acme/x=token")) {
            write("mcp:\n  repositoryTokens: ['%s']\n".formatted(wrong));
            assertThat(problems(Map.of(), Map.of())).singleElement().asString().contains("mcp.repositoryTokens");
        }
        write("mcp:\n  maxServers: 0\n");
        assertThat(problems(Map.of(), Map.of())).singleElement().asString().contains("mcp.maxServers is \"0\"");
        write("mcp:\n  servrs: x\n");
        assertThat(problems(Map.of(), Map.of())).singleElement().asString().contains("unknown key mcp.servrs");
    }

    @Test
    void browsersComeBackToWhereTheyReachTheApi() {
        assertThat(load(Map.of(), Map.of()).config().callbackUrl()).isEqualTo("http://127.0.0.1:3000");
        assertThat(load(Map.of("CAY_HTTP_LISTEN", "127.0.0.1, 0.0.0.0", "CAY_HTTP_DOMAIN", "cay.example"), Map.of())
                        .config()
                        .callbackUrl())
                .isEqualTo("https://api.cay.example:8443");
        assertThat(load(Map.of("CAY_MCP_CALLBACK_URL", "https://cay.example.org/api/"), Map.of())
                        .config()
                        .callbackUrl())
                .isEqualTo("https://cay.example.org/api");
        assertThat(problems(Map.of("CAY_MCP_CALLBACK_URL", "javascript:alert(1)"), Map.of()))
                .singleElement()
                .asString()
                .contains("mcp.callbackUrl");
    }

    @Test
    void remoteMcpServersMayLieWhereTheOperatorSays() {
        String some = "wiki.corp, *.lab.example, 10.1.0.0/16, 192.168.7.7, fd12::/16";
        assertThat(load(Map.of("CAY_MCP_REMOTE_ADDRESSES", some), Map.of())
                        .config()
                        .mcp()
                        .remoteAddresses())
                .containsExactly(some.split(", "));
        for (String wrong :
                List.of("http://wiki.corp", "10.1.0.0/33", "10.1/16", "*", "wiki.corp:80", "a b", "fd12::/x")) {
            assertThat(problems(Map.of("CAY_MCP_REMOTE_ADDRESSES", wrong), Map.of()))
                    .singleElement()
                    .asString()
                    .contains("mcp.remoteAddresses", "10.1.0.0/16");
        }
    }

    @Test
    void theCeilingOfEgressIsOfAddressesAndRanges() {
        var network = load(
                        Map.of(
                                "CAY_NETWORK_EGRESS_ALLOW",
                                "203.0.113.0/24, 198.51.100.7",
                                "CAY_NETWORK_EGRESS_DENY",
                                "1.1.1.1"),
                        Map.of())
                .config()
                .network();
        assertThat(network.egressAllow()).containsExactly("203.0.113.0/24", "198.51.100.7");
        assertThat(network.egressDeny()).containsExactly("1.1.1.1");
        for (String wrong : List.of("example.org", "1.2.3", "1.2.3.4/33", "1.2.3.444", "::1", "1.2.3.4 } ; x")) {
            assertThat(problems(Map.of("CAY_NETWORK_EGRESS_DENY", wrong), Map.of()))
                    .as(wrong)
                    .singleElement()
                    .asString()
                    .contains("network.egress.deny", "203.0.113.0/24");
        }
    }

    @Test
    void theCeilingOfNamesIsOfHostNamesAndPatterns() {
        assertThat(load(Map.of("CAY_NETWORK_EGRESS_NAMES", "example.org, *.example.org"), Map.of())
                        .config()
                        .network()
                        .egressNames())
                .containsExactly("example.org", "*.example.org");
        for (String wrong : List.of("*", "1.2.3.4", "a..b", "exa mple", "*.*.b", "Example.org")) {
            assertThat(problems(Map.of("CAY_NETWORK_EGRESS_NAMES", wrong), Map.of()))
                    .as(wrong)
                    .singleElement()
                    .asString()
                    .contains("network.egress.names", "*.example.org");
        }
    }

    @Test
    void openAddressesAreAddressesWithAPort() {
        assertThat(load(Map.of("CAY_NETWORK_OPEN_ADDRESSES", "10.1.2.3:80, 192.168.7.7:443"), Map.of())
                        .config()
                        .network()
                        .openAddresses())
                .containsExactly("10.1.2.3:80", "192.168.7.7:443");
        for (String wrong : List.of(
                "10.1.2.3",
                "10.1.2.3:0",
                "10.1.2.3:65536",
                "10.1.2.333:80",
                "mirror:80",
                "10.0.0.0/8:80",
                "[::1]:80",
                "127.0.0.1:80",
                "0.0.0.0:80",
                "169.254.169.254:80",
                "224.0.0.1:80",
                "10.1.2.3:80 } ; x")) {
            assertThat(problems(Map.of("CAY_NETWORK_OPEN_ADDRESSES", wrong), Map.of()))
                    .as(wrong)
                    .singleElement()
                    .asString()
                    .contains("network.openAddresses", "10.1.2.3:80");
        }
    }

    @Test
    void metaToolsAreAChoiceOfThree() throws IOException {
        for (String choice : List.of("off", "on", "only")) {
            // Words that older YAML takes for true and false.
            write("mcp: {metaTools: %s}\n".formatted(choice));
            assertThat(load(Map.of(), Map.of()).config().mcp().metaTools()).isEqualTo(choice);
        }
        write("mcp: {metaTools: yes}\n");
        assertThat(problems(Map.of(), Map.of()))
                .singleElement()
                .asString()
                .contains("mcp.metaTools", "off, on or only");
    }

    @Test
    void aSecretIsNeverShown() {
        var key = new ConfigKey<>("a.b", ConfigValue.matching(".*", "text"), "", true, "");
        assertThat(key.shown("hunter2")).doesNotContain("hunter2");
    }

    @Test
    void thePoolNeverTakesMoreThanHalfOfWhatIsFree() {
        var storage = new CayConfig.Storage(20_480, 10_240, 1_000_000_000);
        assertThat(storage.poolSizeMBWithin(10L << 30)).isEqualTo(5120);
        assertThat(storage.poolSizeMBWithin(1L << 50)).isEqualTo(20_480);
    }

    private void write(String yaml) throws IOException {
        Files.writeString(file, yaml);
    }

    private LoadedConfig load(Map<String, String> environment, Map<String, String> options) {
        return ConfigLoader.load(file, environment, options);
    }

    private List<String> problems(Map<String, String> environment, Map<String, String> options) {
        var thrown = catchThrowableOfType(CayException.class, () -> load(environment, options));
        return thrown.userMessage().lines().toList();
    }

    private static Map<String, String> sources(LoadedConfig loaded) {
        return loaded.settings().stream()
                .collect(Collectors.toMap(
                        setting -> setting.key().name(), setting -> setting.text() + " from " + setting.source()));
    }
}
