package dev.cay.server.event;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.paging.ListPage;
import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.util.Arrays;
import java.util.List;
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
                ListPage.bool(exchange, exchange.query("orderAsc") == null ? "order_asc" : "orderAsc"),
                ListPage.number(exchange, "offset", 0, Integer.MAX_VALUE, 0),
                ListPage.number(exchange, "limit", 1, 100, 10));
        var found = store.read(handle -> EventStore.list(handle, query));
        exchange.sendJson(200, found.stream().map(EventJson::of).toList());
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
}
