package dev.cay.cli;

import java.util.Locale;
import tools.jackson.databind.JsonNode;

/// What all commands about webhooks take, and how webhooks are shown.
final class WebhookOptions extends ApiOptions {
    static final String PATH = "/events/webhooks";

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
}
