package dev.cay.server.mcp;

import dev.cay.http.ErrorRenderer;
import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Audit;
import dev.cay.server.access.Team;
import dev.cay.server.sandbox.Sandboxes;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.NodeAuthorizations;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/// Routes that authorize remote MCP servers of sandboxes.
///
/// Starting an authorization needs an API key of the sandbox's team. The browser that comes back from an authorization
/// server has no key: it brings a random state, and completes only the authorization of that state.
public final class AuthorizationRoutes {
    private final Access access;
    private final Sandboxes sandboxes;
    private final NodeAuthorizations authorizations;

    public AuthorizationRoutes(Access access, Sandboxes sandboxes, NodeAuthorizations authorizations) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.authorizations = authorizations;
    }

    public void addTo(Routes routes) {
        routes.on("POST", "/sandboxes/{sandboxID}/mcp/{server}/authorize", access.guard(this::authorize));
        routes.on("GET", "/mcp/oauth/callback", access.guardToken(this::callback));
        // Programs that look at links for their users must not use them up.
        routes.on("HEAD", "/mcp/oauth/callback", exchange -> exchange.send(405));
        routes.on("GET", "/mcp/oauth/client.json", this::client);
    }

    private void authorize(Team team, Exchange exchange) {
        var sandbox = sandboxes.requireRunning(team, SandboxId.parse(exchange.parameter("sandboxID")));
        exchange.with("Cache-Control", "no-store")
                .sendJson(200, authorizations.authorize(sandbox.id(), exchange.parameter("server")));
    }

    private void client(Exchange exchange) {
        exchange.with("Cache-Control", "max-age=3600")
                .sendJson(
                        200,
                        authorizations
                                .clientMetadata()
                                .orElseThrow(() -> new CayException(
                                        ErrorKind.NOT_FOUND, "this Cay has no address that others can reach")));
    }

    private void callback(Exchange exchange, Audit.Act act) {
        var redirect = new NodeAuthorizations.Redirect(
                exchange.query("state"), exchange.query("code"), exchange.query("iss"), exchange.query("error"));
        if (exchange.header("X-API-Key") != null) {
            // A program of the user's brings what the browser could not.
            var done = complete(redirect, exchange, act);
            exchange.with("Cache-Control", "no-store")
                    .sendJson(200, Map.of("sandbox", done.sandbox().value(), "server", done.server()));
            return;
        }
        try {
            var done = complete(redirect, exchange, act);
            answer(
                    exchange,
                    200,
                    "Authorized",
                    "The MCP server %s can be used by sandbox %s now. You can close this page."
                            .formatted(done.server(), done.sandbox()));
        } catch (CayException e) {
            answer(exchange, ErrorRenderer.status(e.kind()), "Not authorized", e.userMessage());
        }
    }

    /// Who began it showed a key; here the state alone says whose sandbox it is for.
    private NodeAuthorizations.Authorized complete(
            NodeAuthorizations.Redirect redirect, Exchange exchange, Audit.Act act) {
        var done = authorizations.complete(redirect);
        exchange.about("sandbox", done.sandbox().value());
        sandboxes.ownerOf(done.sandbox()).ifPresent(team -> act.byToken(team, "link", "state of an authorization"));
        return done;
    }

    /// A page without anything that a browser could fetch, run or pass on.
    private static void answer(Exchange exchange, int status, String title, String text) {
        String page = """
                <!doctype html>
                <html lang="en"><head><meta charset="utf-8"><title>%s</title></head>
                <body><h1>%s</h1><p>%s</p></body></html>
                """.formatted(title, title, escaped(text));
        exchange.with("Cache-Control", "no-store")
                .with("Referrer-Policy", "no-referrer")
                .with("X-Content-Type-Options", "nosniff")
                .with("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
                .send(status, "text/html; charset=utf-8", page.getBytes(StandardCharsets.UTF_8));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
