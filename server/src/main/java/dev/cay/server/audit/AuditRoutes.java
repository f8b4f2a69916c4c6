package dev.cay.server.audit;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.audit.AuditChain.Link;
import dev.cay.server.paging.ListPage;
import dev.cay.server.request.RequestBody;
import dev.cay.server.request.Times;
import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The audit log for the operator, and for a team its own entries.
final class AuditRoutes {
    private static final int MOST = 1000;
    private static final int USUAL = 100;
    private static final Pattern WORD = Pattern.compile("[A-Za-z0-9.:-]{1,80}");

    /// Actions of commands on the host, which do not use the API.
    private static final Set<String> HOST_ACTIONS = Set.of("admin-token.renew");

    private final Access access;
    private final Store store;
    private final InstantSource clock;
    private final Consumer<AuditEntry> add;
    private final Semaphore verification = new Semaphore(1);

    AuditRoutes(Access access, Store store, InstantSource clock, Consumer<AuditEntry> add) {
        this.access = access;
        this.store = store;
        this.clock = clock;
        this.add = add;
    }

    void addTo(Routes routes) {
        routes.on("GET", "/audit", access.guard(this::listOfTeam));
        routes.on("GET", "/admin/audit", access.guardAdmin(this::listAll));
        routes.on("POST", "/admin/audit", access.guardAdmin(this::note));
        routes.on("GET", "/admin/audit/head", access.guardAdmin(this::head));
        routes.on("GET", "/admin/audit/verification", access.guardAdmin(this::verify));
    }

    private void listOfTeam(Team team, Exchange exchange) {
        list(team.id().value(), exchange);
    }

    private void listAll(Exchange exchange) {
        list(word(exchange, "team"), exchange);
    }

    /// Lists entries, newest first, with the start of the next page in a header; with `after`, oldest first from there.
    private void list(@Nullable String team, Exchange exchange) {
        int limit = ListPage.number(exchange, "limit", 1, MOST, USUAL);
        var query = new AuditStore.Query(
                team,
                word(exchange, "sandbox"),
                word(exchange, "actor"),
                word(exchange, "action"),
                time(exchange, "since"),
                time(exchange, "until"),
                number(exchange, "nextToken"),
                number(exchange, "after"),
                limit + 1);
        var found = store.read(handle -> AuditStore.list(handle, query));
        var page = found.subList(0, Math.min(limit, found.size()));
        if (found.size() > limit && query.after() == null) {
            exchange.with("X-Next-Token", Long.toString(page.getLast().sequence()));
        }
        // The text of the chain, because a line that is serialized again might not match its hash.
        String text = page.stream().map(Link::line).collect(Collectors.joining(",", "[", "]"));
        exchange.send(200, "application/json", text.getBytes(StandardCharsets.UTF_8));
    }

    private void note(Exchange exchange) {
        String action = RequestBody.of(exchange).text("action");
        if (action == null || !HOST_ACTIONS.contains(action)) {
            throw RequestBody.invalid("'action' must be one of " + String.join(", ", HOST_ACTIONS));
        }
        var facts = Map.of("result", "ok", "address", exchange.peer());
        add.accept(AuditEntry.of(clock.instant(), action, "operator", null, null, facts));
        exchange.send(204);
    }

    private void head(Exchange exchange) {
        var head = store.read(AuditStore::head);
        exchange.sendJson(200, Map.of("sequence", head.sequence(), "hash", head.hash(), "time", clock.instant()));
    }

    private void verify(Exchange exchange) {
        if (!verification.tryAcquire()) {
            throw new CayException(ErrorKind.EXHAUSTED, "a verification is under way; try again when it has ended");
        }
        try {
            exchange.sendJson(200, AuditVerification.run(store));
        } finally {
            verification.release();
        }
    }

    private static @Nullable String word(Exchange exchange, String name) {
        String text = exchange.query(name);
        if (text == null || text.isEmpty()) {
            return null;
        }
        if (!WORD.matcher(text).matches()) {
            throw invalid("the query parameter '%s' must have letters, digits, '.', ':' and '-' only".formatted(name));
        }
        return text;
    }

    private static @Nullable Long number(Exchange exchange, String name) {
        String text = exchange.query(name);
        if (text == null || text.isEmpty()) {
            return null;
        }
        if (!text.matches("\\d{1,18}")) {
            throw invalid("the query parameter '%s' must be the number of an entry".formatted(name));
        }
        return Long.valueOf(text);
    }

    private static @Nullable Instant time(Exchange exchange, String name) {
        String text = exchange.query(name);
        if (text == null || text.isEmpty()) {
            return null;
        }
        try {
            return Times.parse(text);
        } catch (DateTimeException e) {
            throw invalid("the query parameter '%s' must be a time like 2026-12-31T00:00:00Z".formatted(name));
        }
    }

    private static CayException invalid(String message) {
        return RequestBody.invalid(message);
    }
}
