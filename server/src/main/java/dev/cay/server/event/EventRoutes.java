package dev.cay.server.event;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.life.FairTurns;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.paging.ListPage;
import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Lists events, of a team or of one sandbox, also of one that is long gone.
public final class EventRoutes {
    /// Who needs a later event takes the token of the page before, which costs nothing.
    private static final int MOST_OFFSET = 10_000;

    private final Access access;
    private final Store store;

    /// Lists may look at many events, and must leave readers of the database for other requests.
    private final FairTurns turns = new FairTurns("The events were not read", 2, 100, Duration.ofSeconds(30));

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
                token(exchange),
                offset(exchange),
                ListPage.number(exchange, "limit", 1, 100, 10));
        EventStore.Page page;
        try (var _ = turns.take(team.id())) {
            page = store.read(handle -> EventStore.list(handle, query));
        }
        if (page.next() != null) {
            exchange.with("X-Next-Token", String.valueOf(page.next()));
        }
        exchange.sendJson(200, page.events().stream().map(EventJson::of).toList());
    }

    private static @Nullable Long token(Exchange exchange) {
        String text = exchange.query("nextToken");
        if (text == null || text.isEmpty()) {
            return null;
        }
        if (!text.matches("\\d{1,18}")) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "'nextToken' must be the value of X-Next-Token of the page before");
        }
        return Long.valueOf(text);
    }

    private static int offset(Exchange exchange) {
        int offset = ListPage.number(exchange, "offset", 0, Integer.MAX_VALUE, 0);
        if (offset > MOST_OFFSET) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "'offset' must be at most %d; for later events send 'nextToken' with the value of X-Next-Token of the page before"
                            .formatted(MOST_OFFSET));
        }
        return offset;
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
