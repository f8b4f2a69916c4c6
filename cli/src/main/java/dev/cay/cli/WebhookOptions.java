package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import java.util.Locale;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What all commands about webhooks take: where the daemon is, and how results are printed.
final class WebhookOptions {
    static final String PATH = "/events/webhooks";

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

    Api api() {
        return Api.of(options);
    }

    /// @return whether it was printed, because the user wants JSON
    boolean json(JsonNode value) {
        if (format != Format.JSON) {
            return false;
        }
        System.out.println(JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsString(value));
        return true;
    }

    /// One line about a webhook.
    void line(JsonNode webhook) {
        System.out.println(String.format(
                Locale.ROOT,
                "%s %-7s %s  %s",
                text(webhook, "id"),
                webhook.path("enabled").asBoolean(false) ? state(webhook) : "off",
                text(webhook, "name"),
                text(webhook, "url")));
    }

    private static String state(JsonNode webhook) {
        return webhook.has("failingSince") ? "failing" : "on";
    }

    /// Everything about a webhook.
    void details(JsonNode webhook) {
        field("id", text(webhook, "id"));
        field("name", text(webhook, "name"));
        field("url", text(webhook, "url"));
        field("enabled", webhook.path("enabled").asBoolean(false) ? "yes" : "no");
        field("created", text(webhook, "createdAt"));
        webhook.path("events").forEach(event -> field("event", event.asString("")));
        field("failing since", text(webhook, "failingSince"));
        field("switched off", text(webhook, "disabledAt"));
        field("because", text(webhook, "disabledReason"));
    }

    private void field(String name, String value) {
        if (!value.isEmpty()) {
            System.out.println(String.format(Locale.ROOT, "%-14s %s", name, value));
        }
    }

    static String text(JsonNode node, String field) {
        return node.path(field).asString("");
    }
}
