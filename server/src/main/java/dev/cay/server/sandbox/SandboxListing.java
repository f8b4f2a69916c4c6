package dev.cay.server.sandbox;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.paging.ListPage;
import dev.cay.server.template.Templates;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/// Lists a team's sandboxes, filtered and in pages.
public final class SandboxListing {
    private static final Set<String> STATES = Set.of("running", "paused");

    private final Access access;
    private final Sandboxes sandboxes;
    private final Templates templates;
    private final SandboxView view;

    public SandboxListing(Access access, Sandboxes sandboxes, Templates templates, SandboxView view) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.templates = templates;
        this.view = view;
    }

    public void addTo(Routes routes) {
        routes.on("GET", "/sandboxes", access.guard(this::listOld));
        routes.on("GET", "/v2/sandboxes", access.guard(this::list));
    }

    /// The list of the first clients: what runs, all at once.
    private void listOld(Team team, Exchange exchange) {
        var metadata = metadata(exchange);
        var order = Comparator.comparing(SandboxRecord::startedAt)
                .reversed()
                .thenComparing(sandbox -> sandbox.id().value());
        exchange.sendJson(
                200,
                sandboxes.list(team).stream()
                        .filter(isIn(Set.of("running")).and(has(metadata)))
                        .sorted(order)
                        .map(view::listed)
                        .toList());
    }

    private void list(Team team, Exchange exchange) {
        Set<String> states = states(exchange);
        boolean ascending = ascending(exchange);
        var matching = sandboxes.list(team).stream()
                .filter(isIn(states)
                        .and(has(metadata(exchange)))
                        .and(startedAfter(exchange))
                        .and(from(team, exchange)))
                .toList();
        var page = ListPage.cut(
                exchange,
                matching,
                SandboxRecord::startedAt,
                sandbox -> sandbox.id().value(),
                ascending);
        if (states.contains("running")) {
            long running = matching.stream().filter(isIn(Set.of("running"))).count();
            exchange.with("X-Total-Running", Long.toString(running));
        }
        exchange.sendJson(200, page.stream().map(view::listed).toList());
    }

    private static Predicate<SandboxRecord> isIn(Set<String> states) {
        return sandbox -> states.contains(sandbox.state().visible());
    }

    private static Predicate<SandboxRecord> has(Map<String, String> metadata) {
        return sandbox -> sandbox.metadata().entrySet().containsAll(metadata.entrySet());
    }

    private static Predicate<SandboxRecord> startedAfter(Exchange exchange) {
        String text = exchange.query("startedAfter");
        if (text == null || text.isEmpty()) {
            return sandbox -> true;
        }
        try {
            Instant time = OffsetDateTime.parse(text).toInstant();
            return sandbox -> !sandbox.startedAt().isBefore(time);
        } catch (DateTimeException e) {
            throw invalid("'startedAfter' must be a time like 2026-01-31T10:00:00Z");
        }
    }

    private Predicate<SandboxRecord> from(Team team, Exchange exchange) {
        String name = exchange.query("template");
        if (name == null || name.isEmpty()) {
            return sandbox -> true;
        }
        var template = templates.find(team, name);
        return sandbox -> template.isPresent() && template.get().id().equals(sandbox.templateId());
    }

    private static boolean ascending(Exchange exchange) {
        String order = exchange.query("order");
        if (order == null || order.isEmpty() || order.equals("desc")) {
            return false;
        }
        if (order.equals("asc")) {
            return true;
        }
        throw invalid("'order' must be asc or desc");
    }

    private static Set<String> states(Exchange exchange) {
        var states = exchange.queryAll("state").stream()
                .flatMap(value -> List.of(value.split(",")).stream())
                .filter(value -> !value.isEmpty())
                .toList();
        for (String state : states) {
            if (!STATES.contains(state)) {
                throw invalid("'state' must be running or paused, or both with a comma");
            }
        }
        return states.isEmpty() ? STATES : Set.copyOf(states.stream().distinct().toList());
    }

    /// Clients encode keys and values, then the pairs as a form, then the whole as a query value: what arrives decoded
    /// once must be decoded twice more.
    private static Map<String, String> metadata(Exchange exchange) {
        String text = exchange.query("metadata");
        if (text == null || text.isEmpty()) {
            return Map.of();
        }
        var metadata = new HashMap<String, String>();
        for (String pair : decode(text).split("&")) {
            String[] parts = pair.split("=", -1);
            if (parts.length != 2) {
                throw invalid("Error parsing metadata: it must be key=value pairs joined by '&', each part encoded");
            }
            metadata.put(decode(parts[0]), decode(parts[1]));
        }
        return metadata;
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw invalid("Error parsing metadata: a '%' must be followed by two hexadecimal digits");
        }
    }

    private static CayException invalid(String message) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, message);
    }
}
