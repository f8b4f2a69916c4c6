package dev.cay.mcp.protocol.stateless;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.stream.Outbox;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A client that subscribes to changes, limited to those that the conversation can report.
final class Subscription {
    private static final int MOST_RESOURCES = 256;

    /// The names of subscriptions, and the capability that each needs.
    private static final Map<String, String> LISTS = Map.of(
            "toolsListChanged", "tools",
            "promptsListChanged", "prompts",
            "resourcesListChanged", "resources");

    private final JsonNode id;
    private final JsonNode greeting;
    private final ObjectNode honoured = Json.mapper().createObjectNode();
    private final List<String> uris = new ArrayList<>();
    private final Outbox box = new Outbox(0);

    /// @param id of the client's request
    Subscription(JsonNode id, JsonNode wanted, JsonNode greeting) {
        if (!wanted.isObject()) {
            throw Envelope.invalid("params.notifications must be an object");
        }
        this.id = id;
        this.greeting = greeting;
        var capabilities = greeting.path("capabilities");
        LISTS.forEach((kind, room) -> {
            if (wanted.path(kind).asBoolean(false)
                    && capabilities.path(room).path("listChanged").asBoolean(false)) {
                honoured.put(kind, true);
            }
        });
        wanted.path("resourceSubscriptions").forEach(uri -> uris.add(uri.asString("")));
        if (uris.size() > MOST_RESOURCES) {
            throw Envelope.invalid(
                    "params.notifications.resourceSubscriptions may have at most %d entries".formatted(MOST_RESOURCES));
        }
        if (!capabilities.path("resources").path("subscribe").asBoolean(false)) {
            uris.clear();
        }
        if (!uris.isEmpty()) {
            var told = honoured.putArray("resourceSubscriptions");
            uris.forEach(told::add);
        }
    }

    Outbox box() {
        return box;
    }

    List<String> uris() {
        return List.copyOf(uris);
    }

    /// Sends the accepted subscriptions as the first message; if there are none, the stream ends there.
    void acknowledge() {
        var params = Json.mapper().createObjectNode();
        params.set("notifications", honoured);
        tell("notifications/subscriptions/acknowledged", params);
        if (honoured.isEmpty()) {
            end();
        }
    }

    void hear(Message notification) {
        boolean wanted = notification.method().equals("notifications/resources/updated")
                ? uris.contains(notification.params().path("uri").asString(""))
                : LISTS.entrySet().stream()
                        .filter(entry -> honoured.has(entry.getKey()))
                        .anyMatch(entry -> notification
                                .method()
                                .equals("notifications/%s/list_changed".formatted(entry.getValue())));
        if (wanted) {
            var params = notification.params() instanceof ObjectNode given
                    ? given.deepCopy()
                    : Json.mapper().createObjectNode();
            tell(notification.method(), params);
        }
    }

    private void tell(String method, ObjectNode params) {
        params.withObject("_meta").set(Envelope.SUBSCRIPTION, id);
        box.send(Message.notification(method, params));
    }

    void end() {
        var result = Json.mapper().createObjectNode().put("resultType", "complete");
        Results.mark(result, greeting);
        result.withObject("_meta").set(Envelope.SUBSCRIPTION, id);
        box.end(Message.result(id, result));
    }
}
