package dev.cay.server.dashboard;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.TeamKey;
import dev.cay.server.people.PersonAccess;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.rest.Contract;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Tells a page who is signed in with its browser, signs in with an API key, and signs out.
final class SessionRoutes {
    static final String PATH = "/dashboard/session";

    private final Viewers viewers;
    private final PersonAccess people;
    private final String domain;

    /// @param domain suffix of sandboxes' host names
    SessionRoutes(Viewers viewers, PersonAccess people, String domain) {
        this.viewers = viewers;
        this.people = people;
        this.domain = domain;
    }

    void addTo(Routes routes) {
        routes.on("GET", PATH, this::show);
        routes.on("POST", PATH, this::signIn);
        routes.on("DELETE", PATH, this::signOut);
    }

    private record Wanted(@Nullable String apiKey) {}

    private void show(Exchange exchange) {
        if (people.browsers().isForeign(exchange)) {
            throw foreign();
        }
        var viewer = viewers.find(exchange);
        var answer = new LinkedHashMap<String, Object>();
        answer.put("signedIn", viewer.isPresent());
        people.issuerHost().ifPresent(host -> answer.put("issuer", host));
        viewer.ifPresent(known -> {
            answer.put("name", known.name());
            answer.put("person", known.isPerson());
            answer.put("token", known.token());
            answer.put("teams", known.rights().stream().map(SessionRoutes::team).toList());
            answer.put("domain", domain);
            answer.put("envdVersion", Contract.ENVD_VERSION);
        });
        exchange.with("Cache-Control", "no-store").sendJson(200, answer);
    }

    private static Map<String, Object> team(TeamKey rights) {
        return Map.of(
                "id", rights.team().id().value(),
                "name", rights.team().name(),
                "scope", rights.scope().toString());
    }

    private void signIn(Exchange exchange) {
        requireOwn(exchange);
        var wanted = exchange.json(Wanted.class);
        String key = wanted == null ? null : wanted.apiKey();
        if (key == null || key.isBlank()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "'apiKey' must be an API key");
        }
        viewers.signIn(exchange, key);
        exchange.with("Cache-Control", "no-store").send(204);
    }

    private void signOut(Exchange exchange) {
        requireOwn(exchange);
        viewers.signOut(exchange);
        exchange.with("Cache-Control", "no-store").send(204);
    }

    private void requireOwn(Exchange exchange) {
        if (!people.browsers().isOwnForm(exchange)) {
            throw foreign();
        }
    }

    private static CayException foreign() {
        return new CayException(ErrorKind.PERMISSION_DENIED, "this did not come from a page of the dashboard");
    }
}
