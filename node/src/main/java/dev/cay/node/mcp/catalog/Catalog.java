package dev.cay.node.mcp.catalog;

import dev.cay.config.Suggestion;
import dev.cay.life.BackgroundTask;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// All known MCP servers, with the operator's overrides. Immutable.
public final class Catalog {
    /// Time after which a daemon that just started has done its urgent work.
    private static final Duration QUIET = Duration.ofSeconds(20);

    private static final int NEAREST = 3;
    private static final int LONGEST_KEY = 64;
    private static final Pattern TELLABLE = Pattern.compile("[A-Za-z0-9_./-]{1,64}");

    private final Supplier<Map<String, CatalogServer>> servers;
    private final Map<String, ServerOverride> overrides;

    private Catalog(Supplier<Map<String, CatalogServer>> servers, Map<String, ServerOverride> overrides) {
        this.servers = servers;
        this.overrides = Map.copyOf(overrides);
    }

    /// The catalog that comes with Cay, without overrides.
    public static Catalog builtIn() {
        return load(List.of(), null);
    }

    /// Loads the catalog. Throws one exception that lists every problem of a file.
    ///
    /// @param files     the operator's own entries; of two with the same key the later replaces the other
    /// @param overrides the file whose section `mcp.servers` overrides entries; null for none
    public static Catalog load(List<Path> files, @Nullable Path overrides) {
        // Cay's own entries take half a second of processor time, which a start needs for other work, and have no
        // problems to report.
        Supplier<Map<String, CatalogServer>> servers = files.isEmpty()
                ? BackgroundTask.beginLater("catalog", QUIET, () -> read(List.of()))::get
                : known(read(files));
        return new Catalog(
                servers,
                overrides == null ? Map.of() : CatalogFile.open(overrides).overrides(servers));
    }

    private static Map<String, CatalogServer> read(List<Path> files) {
        var servers = new TreeMap<String, CatalogServer>(String.CASE_INSENSITIVE_ORDER.thenComparing(key -> key));
        servers.putAll(CatalogFile.builtIn());
        for (Path file : files) {
            servers.putAll(CatalogFile.open(file).servers());
        }
        return Collections.unmodifiableMap(servers);
    }

    private static Supplier<Map<String, CatalogServer>> known(Map<String, CatalogServer> servers) {
        return () -> servers;
    }

    /// The operator's interceptors of tool calls, in their order. Throws one exception that lists every problem.
    ///
    /// @param config the file with section `mcp.interceptors`; null for none
    public List<Interception> interceptions(@Nullable Path config) {
        return config == null
                ? List.of()
                : CatalogFile.open(config).interceptions(() -> servers.get().keySet());
    }

    /// All servers in the order of their keys.
    public List<CatalogServer> servers() {
        return List.copyOf(servers.get().values());
    }

    public Optional<CatalogServer> find(String key) {
        return Optional.ofNullable(servers.get().get(key));
    }

    /// Refuses with what may have been meant.
    public CatalogServer require(String key) {
        return find(key).orElseThrow(() -> new CayException(ErrorKind.INVALID_ARGUMENT, unknown(key)));
    }

    private String unknown(String key) {
        String name = TELLABLE.matcher(key).matches() ? "mcp." + key : "a key of mcp";
        var near = nearest(key);
        return "%s is not in the catalog; %s"
                .formatted(
                        name,
                        near.isEmpty()
                                ? "`cay mcp catalog search` finds servers by words"
                                : "did you mean " + String.join(" or ", near) + "?");
    }

    /// Keys that the user of an unknown one may have meant: those about its words, else similarly spelled ones.
    public List<String> nearest(String key) {
        if (key.length() > LONGEST_KEY) {
            return List.of();
        }
        var search = new CatalogSearch(servers.get().values());
        var words = List.of(CatalogSearch.camelWords(key));
        var about = search.exact(words);
        if (!about.isEmpty()) {
            return firstKeys(about);
        }
        var alike = Suggestion.several(key, servers.get().keySet(), NEAREST);
        return alike.isEmpty() ? firstKeys(search.find(words)) : alike;
    }

    private static List<String> firstKeys(List<CatalogServer> servers) {
        return servers.stream().limit(NEAREST).map(CatalogServer::key).toList();
    }

    /// The best first; empty if nothing fits.
    public List<CatalogServer> search(List<String> words) {
        return new CatalogSearch(servers.get().values()).find(words);
    }

    public ServerOverride overrideOf(CatalogServer server) {
        return overrides.getOrDefault(server.key(), ServerOverride.NONE);
    }

    /// The ways to start it here, in the order in which they are tried: the operator's, else those of the entry;
    /// none if the operator disabled it.
    public List<ServerWay> ways(CatalogServer server) {
        var override = overrideOf(server);
        if (override.disabled()) {
            return List.of();
        }
        var only = override.way();
        return only != null
                ? List.of(only)
                : server.ways().stream().filter(ServerWay::isUsable).toList();
    }

    /// The plan for starting it for a user.
    ///
    /// @param options the value of `mcp: {key: ...}`
    public ServerPlan plan(String key, JsonNode options) {
        var server = require(key);
        var ways = ways(server);
        if (ways.isEmpty()) {
            throw refusal(server);
        }
        return Filling.fill(server, overrideOf(server), ways, options);
    }

    /// The error for a server without a way: every entry has one, but a package must be confirmed by the operator
    /// first.
    private CayException refusal(CatalogServer server) {
        String key = server.key();
        if (overrideOf(server).disabled()) {
            return new CayException(
                    ErrorKind.PERMISSION_DENIED,
                    "mcp.%s is switched off on this Cay, by mcp.servers.%s.disabled".formatted(key, key));
        }
        return new CayException(
                ErrorKind.NOT_IMPLEMENTED,
                ("mcp.%s has an npm package that nobody confirmed to be the same program; if it is, let the operator"
                                + " set mcp.servers.%s: {way: npm}")
                        .formatted(key, key));
    }
}
