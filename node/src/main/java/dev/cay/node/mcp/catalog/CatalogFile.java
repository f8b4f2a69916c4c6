package dev.cay.node.mcp.catalog;

import dev.cay.config.Suggestion;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/// Reads catalogs and overrides from YAML, and throws one exception that lists all their problems.
final class CatalogFile {
    private static final String BUILT_IN = "/dev/cay/node/catalog/servers.yaml";
    private static final long LARGEST = 4 << 20;
    private static final YAMLMapper YAML = YAMLMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private final String name;
    private final JsonNode root;
    private final List<String> problems = new ArrayList<>();

    private CatalogFile(String name, String yaml) {
        this.name = name;
        try {
            this.root = YAML.readTree(yaml);
        } catch (JacksonException e) {
            // Without the cause, which quotes the file and may contain credentials.
            int line = e.getLocation() == null ? 1 : e.getLocation().getLineNr();
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "%s:%d: not YAML, or a name is given twice; fix the line or the one before".formatted(name, line));
        }
    }

    /// The entries that come with Cay.
    static Map<String, CatalogServer> builtIn() {
        try (var in = CatalogFile.class.getResourceAsStream(BUILT_IN)) {
            if (in == null) {
                throw new CayException(ErrorKind.INTERNAL, "the catalog is missing in this build of Cay");
            }
            var text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return new CatalogFile("catalog/servers.yaml", text).servers();
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read the catalog that comes with Cay", e);
        }
    }

    static CatalogFile open(Path file) {
        try {
            if (Files.size(file) > LARGEST) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, file + " is larger than 4 MB; divide it");
            }
            return new CatalogFile(file.toString(), Files.readString(file));
        } catch (NoSuchFileException _) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, file + " does not exist; fix mcp.catalogs");
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "%s cannot be read (%s)".formatted(file, e.getClass().getSimpleName()),
                    e);
        }
    }

    /// A file of section `servers`.
    Map<String, CatalogServer> servers() {
        var servers = new LinkedHashMap<String, CatalogServer>();
        var file = new Fields(name + ": ", root, problems);
        file.section("servers").ifPresent(section -> {
            for (String key : section.names()) {
                section.section(key).ifPresent(entry -> servers.put(key, ServerFields.read(key, entry)));
            }
        });
        file.end();
        refuseIfWrong();
        return servers;
    }

    /// Reads section `mcp.servers` of a file, and ignores the rest.
    Map<String, ServerOverride> overrides(Supplier<Map<String, CatalogServer>> servers) {
        var overrides = new LinkedHashMap<String, ServerOverride>();
        var section = new Fields(name + ": mcp.servers", root.path("mcp").path("servers"), problems);
        for (String key : section.names()) {
            var server = servers.get().get(key);
            if (server == null) {
                section.problem(
                        key,
                        "is not in the catalog; "
                                + Suggestion.of(key, servers.get().keySet())
                                        .map(near -> "did you mean " + near + "?")
                                        .orElse("`cay mcp catalog list` shows what is"));
            } else {
                section.section(key).ifPresent(entry -> overrides.put(key, OverrideFields.read(server, entry)));
            }
        }
        refuseIfWrong();
        return overrides;
    }

    /// Reads section `mcp.interceptors` of a file, and ignores the rest.
    ///
    /// @param servers keys of all known servers
    List<Interception> interceptions(Supplier<Set<String>> servers) {
        var interceptions = new ArrayList<Interception>();
        var items = new Fields(name + ": mcp", root.path("mcp"), problems).sections("interceptors");
        for (int i = 0; i < items.size(); i++) {
            InterceptionFields.read("mcp.interceptors[%d]".formatted(i), items.get(i), servers)
                    .ifPresent(interceptions::add);
        }
        refuseIfWrong();
        return interceptions;
    }

    private void refuseIfWrong() {
        if (!problems.isEmpty()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, String.join("\n", problems));
        }
    }
}
