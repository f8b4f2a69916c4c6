package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Options of commands that use the API: the daemon, and the format of output.
class ApiOptions {
    /// The format of output.
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

    /// The API with the user's own key.
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
