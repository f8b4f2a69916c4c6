package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What commands take that ask the API: where the daemon is, and how results are printed.
class ApiOptions {
    /// How results are printed.
    enum Format {
        TEXT,
        JSON
    }

    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            description = "text or json (default: text).")
    private Format format = Format.TEXT;

    /// With the user's own key.
    final Api api() {
        return Api.of(options);
    }

    final Api apiOfOperator() {
        return Api.ofOperator(options);
    }

    /// @return whether it was printed, because the user wants JSON
    final boolean json(JsonNode value) {
        if (format != Format.JSON) {
            return false;
        }
        System.out.println(JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsString(value));
        return true;
    }

    static String text(JsonNode node, String field) {
        return node.path(field).asString("");
    }
}
