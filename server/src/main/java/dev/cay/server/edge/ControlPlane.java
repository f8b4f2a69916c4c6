package dev.cay.server.edge;

import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.http.Routes;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;

/// The REST API: its routes, open to browsers of any origin, as it asks for a key. The pages of sign-in know cookies:
/// browsers show their content to no other origin, as none is named here, and they check where forms come from.
public final class ControlPlane implements Handler {
    private final Routes routes;

    public ControlPlane(Routes routes) {
        this.routes = routes;
        routes.on("GET", "/health", exchange -> exchange.send(204));
    }

    boolean knows(String path) {
        return routes.knows(path);
    }

    @Override
    public void handle(Exchange exchange) throws Exception {
        exchange.with("Access-Control-Allow-Origin", "*");
        if (exchange.method().equals("OPTIONS")) {
            allow(exchange);
            return;
        }
        if (!routes.knows(exchange.path()) && isForSandbox(exchange.path())) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "this request names no sandbox: send the headers E2b-Sandbox-Id and E2b-Sandbox-Port, "
                            + "or use the host <port>-<sandboxId>.<domain>");
        }
        exchange.with("Access-Control-Expose-Headers", "X-Next-Token, X-Total-Running, Retry-After, Location");
        routes.handle(exchange);
    }

    /// Answers a CORS preflight. A preflight for a sandbox's port comes here too, because it has no sandbox headers, so
    /// everything is allowed.
    private static void allow(Exchange exchange) {
        String headers = exchange.header("Access-Control-Request-Headers");
        exchange.with("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
                .with("Access-Control-Allow-Headers", headers == null ? "*" : headers)
                .with("Access-Control-Max-Age", "7200")
                .send(204);
    }

    private static boolean isForSandbox(String path) {
        return path.equals("/files")
                || path.equals("/execute")
                || path.equals("/contexts")
                || path.startsWith("/process.Process/")
                || path.startsWith("/filesystem.Filesystem/");
    }
}
