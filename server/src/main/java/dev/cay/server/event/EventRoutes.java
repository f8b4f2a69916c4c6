package dev.cay.server.event;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.paging.Page;
import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Lists events, of a team or of one sandbox, also of one that is long gone.
public final class EventRoutes {
    private final Access access;
    private final Store store;

    public EventRoutes(Access access, Store store) {
        this.access = access;
        this.store = store;
    }

    public void addTo(Routes routes) {
        routes.on("GET", "/events/sandboxes", access.guard((team, exchange) -> list(team, exchange, null)));
        routes.on(
                "GET",
                "/events/sandboxes/{sandboxID}",
                access.guard((team, exchange) -> list(team, exchange, exchange.parameter("sandboxID"))));
    }

    private void list(Team team, Exchange exchange, @Nullable String sandbox) {
        var query = new EventStore.Query(
                team.id(),
                sandbox == null ? null : SandboxId.parse(sandbox).value(),
                types(exchange),
                Boolean.parseBoolean(first(exchange, "orderAsc", "order_asc")),
                Page.number(exchange, "offset", 0, Integer.MAX_VALUE, 0),
                Page.number(exchange, "limit", 1, 100, 10));
        var found = store.read(handle -> EventStore.list(handle, query));
        exchange.sendJson(200, found.stream().map(EventRoutes::render).toList());
    }

    private static List<LifecycleEvent.Type> types(Exchange exchange) {
        return exchange.queryAll("types").stream()
                .flatMap(value -> Arrays.stream(value.split(",")))
                .filter(value -> !value.isBlank())
                .map(EventRoutes::type)
                .toList();
    }

    private static LifecycleEvent.Type type(String text) {
        return Arrays.stream(LifecycleEvent.Type.values())
                .filter(type -> type.text().equals(text.strip()))
                .findFirst()
                .orElseThrow(() -> new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "unknown event type '%s' in 'types'; they are called like %s"
                                .formatted(text, LifecycleEvent.Type.CREATED.text())));
    }

    private static @Nullable String first(Exchange exchange, String name, String otherName) {
        String value = exchange.query(name);
        return value != null ? value : exchange.query(otherName);
    }

    /// Both spellings: clients of either generation of the documents find what they look for.
    private static Map<String, Object> render(LifecycleEvent event) {
        var json = new LinkedHashMap<String, Object>();
        json.put("version", "v2");
        json.put("id", event.id());
        json.put("type", event.type().text());
        json.put("timestamp", event.at());
        both(json, "eventData", "event_data", event.data());
        both(json, "sandboxId", "sandbox_id", event.sandboxId());
        both(json, "sandboxTeamId", "sandbox_team_id", event.teamId());
        both(json, "sandboxTemplateId", "sandbox_template_id", event.templateId());
        both(json, "sandboxBuildId", "sandbox_build_id", event.buildId());
        both(json, "sandboxExecutionId", "sandbox_execution_id", event.executionId());
        both(json, "eventCategory", "event_category", "lifecycle");
        both(json, "eventLabel", "event_label", event.type().label());
        return json;
    }

    private static void both(Map<String, Object> json, String camel, String snake, Object value) {
        json.put(camel, value);
        json.put(snake, value);
    }
}
