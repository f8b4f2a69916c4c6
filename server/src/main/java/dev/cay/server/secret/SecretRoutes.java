package dev.cay.server.secret;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.paging.ListPage;
import dev.cay.server.request.RequestBody;
import dev.cay.wire.rest.SecretInfo;
import java.util.Map;

/// Routes of secrets. No answer contains a value.
public final class SecretRoutes {
    private static final String ALL = "/secrets";
    private static final String ONE = "/secrets/{secretID}";

    private final Access access;
    private final Secrets secrets;

    public SecretRoutes(Access access, Secrets secrets) {
        this.access = access;
        this.secrets = secrets;
    }

    public void addTo(Routes routes) {
        routes.on("GET", ALL, access.guard(this::list));
        routes.on("POST", ALL, access.guard(this::create));
        routes.on("GET", ONE, access.guard(this::show));
        routes.on("POST", ONE, access.guard(this::update));
        routes.on("DELETE", ONE, access.guard(this::delete));
        routes.on("POST", "/admin/secrets/rotate", access.guardAdmin(this::rotate));
    }

    private void list(Team team, Exchange exchange) {
        var page = ListPage.cut(exchange, secrets.list(team), TeamSecret::createdAt, TeamSecret::id, false);
        exchange.sendJson(200, page.stream().map(SecretRoutes::info).toList());
    }

    private void create(Team team, Exchange exchange) {
        var body = RequestBody.of(exchange);
        var secret = secrets.create(team, SecretRequest.name(body), SecretRequest.read(body));
        exchange.about("secret", secret.id()).sendJson(201, info(secret));
    }

    private void show(Team team, Exchange exchange) {
        exchange.sendJson(200, info(secrets.require(team, exchange.parameter("secretID"))));
    }

    private void update(Team team, Exchange exchange) {
        String id = exchange.parameter("secretID");
        secrets.require(team, id);
        var secret = secrets.update(team, id, SecretRequest.read(RequestBody.of(exchange)));
        exchange.about("secret", secret.id()).sendJson(200, info(secret));
    }

    private void delete(Team team, Exchange exchange) {
        secrets.delete(team, exchange.parameter("secretID"));
        exchange.send(204);
    }

    private void rotate(Exchange exchange) {
        exchange.sendJson(200, Map.of("secrets", secrets.rotate()));
    }

    private static SecretInfo info(TeamSecret secret) {
        return new SecretInfo(
                secret.id(),
                secret.name(),
                secret.version(),
                secret.metadata(),
                secret.createdAt(),
                secret.updatedAt());
    }
}
