package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.config.Suggestion;
import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.CatalogServer;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.json.JsonMapper;

@Command(
        name = "catalog",
        mixinStandardHelpOptions = true,
        description = "List, show and search the MCP servers that are known here, and carry their images.",
        subcommands = {
            McpCatalogCommand.ListAll.class,
            McpCatalogCommand.Show.class,
            McpCatalogCommand.Search.class,
            McpImageCommands.Fetch.class,
            McpImageCommands.Import.class
        },
        footer = {
            "",
            "Servers of your own go into files that mcp.catalogs names; section mcp.servers",
            "of the configuration says how servers are started here. See docs/mcp.md.",
            "",
            "Examples:",
            "  ./cay mcp catalog list --category search",
            "  ./cay mcp catalog show notion",
            "  ./cay mcp catalog search jira"
        })
final class McpCatalogCommand implements Callable<Integer> {
    private static final JsonMapper JSON = new JsonMapper();

    @Mixin
    private Asked asked = new Asked();

    @Override
    public Integer call() {
        var catalog = asked.catalog();
        return asked.print(catalog, catalog.servers());
    }

    /// For people or for programs.
    enum Format {
        TEXT,
        JSON
    }

    /// What all of them take.
    static final class Asked {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Option(
                names = {"-o", "--output"},
                paramLabel = "FORMAT",
                description = "text or json (default: text).")
        private Format format = Format.TEXT;

        Catalog catalog() {
            var mcp = options.config().mcp();
            return Catalog.load(mcp.catalogs(), mcp.overrides());
        }

        int print(Catalog catalog, List<CatalogServer> servers) {
            var descriptions = servers.stream()
                    .map(server -> new ServerDescription(catalog, server))
                    .toList();
            switch (format) {
                case TEXT -> table(descriptions);
                case JSON ->
                    json(descriptions.stream().map(ServerDescription::summary).toList());
            }
            return 0;
        }

        private static void table(List<ServerDescription> rows) {
            int key = width(rows.stream().map(row -> row.server().key()).toList());
            int category =
                    width(rows.stream().map(row -> row.server().category()).toList());
            int start = width(rows.stream().map(ServerDescription::start).toList());
            String line = "%%-%ds %%-%ds %%-%ds %%s".formatted(key, start, category);
            for (var row : rows) {
                var server = row.server();
                System.out.println(
                        String.format(Locale.ROOT, line, server.key(), row.start(), server.category(), server.title()));
            }
        }

        private static int width(List<String> texts) {
            return texts.stream().mapToInt(String::length).max().orElse(1);
        }

        private static void json(Object value) {
            System.out.println(JSON.writerWithDefaultPrettyPrinter().writeValueAsString(value));
        }
    }

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "List servers: key, the ways to start it, category, title.",
            footer = {
                "",
                "Ways are tried from left to right: a server at its vendor (remote), a package",
                "(npm), a container image or a command. npm? is only a package, which is not",
                "confirmed to be the same program; section mcp.servers of the configuration can",
                "confirm it, and can choose one way. off is a server that the section disables.",
                "",
                "Examples:",
                "  ./cay mcp catalog list",
                "  ./cay mcp catalog list --category search --launchable",
                "  ./cay mcp catalog list -o json | jq -r '.[].key'"
            })
    static final class ListAll implements Callable<Integer> {
        @Mixin
        private Asked asked = new Asked();

        @Option(names = "--category", paramLabel = "CATEGORY", description = "Only those of this category.")
        private @Nullable String category;

        @Option(names = "--launchable", description = "Only those that can be started here.")
        private boolean launchable;

        @Override
        public Integer call() {
            var catalog = asked.catalog();
            String wanted = category == null ? null : known(catalog, category);
            var servers = catalog.servers().stream()
                    .filter(server -> wanted == null || server.category().equals(wanted))
                    .filter(server -> !launchable || !catalog.ways(server).isEmpty())
                    .toList();
            return asked.print(catalog, servers);
        }

        private static String known(Catalog catalog, String category) {
            var categories = new TreeSet<String>();
            catalog.servers().forEach(server -> categories.add(server.category()));
            if (!categories.contains(category)) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "there is no category %s; %s"
                                .formatted(
                                        category,
                                        Suggestion.of(category, categories)
                                                .map(near -> "did you mean " + near + "?")
                                                .orElse("there are " + String.join(", ", categories))));
            }
            return category;
        }
    }

    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description = "Show one server: how it is started, its options, and an example.",
            footer = {"", "Examples:", "  ./cay mcp catalog show notion", "  ./cay mcp catalog show atlassian -o json"})
    static final class Show implements Callable<Integer> {
        @Mixin
        private Asked asked = new Asked();

        @Parameters(paramLabel = "KEY", description = "What is written in `mcp: {KEY: {...}}`.")
        private String key = "";

        @Override
        public Integer call() {
            var catalog = asked.catalog();
            var description = new ServerDescription(catalog, catalog.require(key));
            switch (asked.format) {
                case TEXT -> description.lines().forEach(System.out::println);
                case JSON -> Asked.json(description.all());
            }
            return 0;
        }
    }

    @Command(
            name = "search",
            mixinStandardHelpOptions = true,
            description = "Find servers by words: product, subject, category. The best match comes first.",
            footer = {"", "Examples:", "  ./cay mcp catalog search jira", "  ./cay mcp catalog search web search"})
    static final class Search implements Callable<Integer> {
        @Mixin
        private Asked asked = new Asked();

        @Parameters(arity = "1..*", paramLabel = "WORD", description = "Words; servers with all of them come first.")
        private List<String> words = List.of();

        @Override
        public Integer call() {
            var catalog = asked.catalog();
            var found = catalog.search(words);
            if (found.isEmpty() && asked.format == Format.TEXT) {
                System.err.println("cay: no server is about that; `cay mcp catalog list` shows all");
            } else {
                asked.print(catalog, found);
            }
            return found.isEmpty() ? 1 : 0;
        }
    }
}
