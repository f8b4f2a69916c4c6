package dev.cay.server.edge;

import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.Map;
import java.util.function.UnaryOperator;

/// Routes of E2B's API that Cay does not implement: answered with an error that says so, never with a 404, which
/// clients would take for a missing sandbox.
public final class UnsupportedRoutes {
    private static final int GONE = 410;

    /// Method, path and purpose of each route.
    private static final String ROUTES = """
            POST   /templates                                           building a template
            POST   /templates/{templateID}                              building a template
            POST   /templates/{templateID}/builds/{buildID}             building a template
            """;

    /// Routes for the operator alone.
    private static final String ADMIN_ROUTES = """
            GET    /nodes                                               administration of nodes
            GET    /nodes/{nodeID}                                      administration of nodes
            POST   /nodes/{nodeID}                                      administration of nodes
            GET    /clusters/{clusterID}/rigs                           rigs
            POST   /clusters/{clusterID}/rigs                           rigs
            GET    /clusters/{clusterID}/rigs/{rigID}                   rigs
            PATCH  /clusters/{clusterID}/rigs/{rigID}                   rigs
            DELETE /clusters/{clusterID}/rigs/{rigID}                   rigs
            PUT    /dashboard-api/admin/teams/{teamID}/ban              banning a team
            DELETE /dashboard-api/admin/teams/{teamID}/ban              banning a team
            PUT    /dashboard-api/admin/teams/{teamID}/block            blocking a team
            DELETE /dashboard-api/admin/teams/{teamID}/block            blocking a team
            """;

    private final Access access;

    public UnsupportedRoutes(Access access) {
        this.access = access;
    }

    public void addTo(Routes routes) {
        addAll(routes, ROUTES, refusal -> access.guard((_, exchange) -> refusal.handle(exchange)));
        addAll(routes, ADMIN_ROUTES, access::guardAdmin);
        routes.on("POST", "/access-tokens", access.guard((_, exchange) -> refuseAccessToken(exchange)));
        routes.on("DELETE", "/access-tokens/{accessTokenID}", access.guard((_, exchange) -> {
            throw new CayException(
                    ErrorKind.NOT_FOUND,
                    "there is no access token '%s'; clients use API keys"
                            .formatted(exchange.parameter("accessTokenID")));
        }));
    }

    /// E2B's cloud makes none any more, either, and answers so.
    private static void refuseAccessToken(Exchange exchange) {
        String why = "access tokens are not made any more; use an API key, or sign in with `e2b auth login`";
        exchange.sendJson(GONE, Map.of("code", GONE, "message", why));
    }

    private static void addAll(Routes routes, String table, UnaryOperator<Handler> guard) {
        table.lines().forEach(line -> {
            String[] parts = line.split(" +", 3);
            routes.on(parts[0], parts[1], guard.apply(refusal(parts[0], parts[1], parts[2])));
        });
    }

    private static Handler refusal(String method, String path, String what) {
        return _ -> {
            throw new CayException(
                    ErrorKind.NOT_IMPLEMENTED,
                    "%s (%s %s) is not supported by this version of Cay".formatted(what, method, path));
        };
    }
}
