package dev.cay.server.people;

import dev.cay.http.ErrorRenderer;
import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.wire.CayException;
import java.util.LinkedHashMap;
import java.util.Map;

/// Where programs of people renew their tokens and give them back, as OAuth 2.0 has it (RFC 6749, RFC 7009).
final class OAuthRoutes {
    static final String TOKEN = "/oauth/token";
    static final String REVOKE = "/oauth/revoke";

    private final SignIns signIns;
    private final AccessTokens tokens;
    private final Attempts attempts;
    private final SignInNotes notes;

    OAuthRoutes(SignIns signIns, AccessTokens tokens, Attempts attempts, SignInNotes notes) {
        this.signIns = signIns;
        this.tokens = tokens;
        this.attempts = attempts;
        this.notes = notes;
    }

    void addTo(Routes routes) {
        routes.on("POST", TOKEN, exchange -> answer(exchange, this::renew));
        routes.on("POST", REVOKE, exchange -> answer(exchange, this::revoke));
    }

    private interface Action {
        void handle(Exchange exchange, Map<String, String> form);
    }

    /// Errors have the form of OAuth, which these clients read.
    private void answer(Exchange exchange, Action action) {
        exchange.with("Cache-Control", "no-store");
        try {
            var form = exchange.form();
            if (!CliRoutes.CLIENT.equals(form.get("client_id"))) {
                refuse(exchange, 401, "invalid_client", "'client_id' must be " + CliRoutes.CLIENT);
                return;
            }
            action.handle(exchange, form);
        } catch (CayException e) {
            int status = ErrorRenderer.status(e.kind());
            exchange.retryLater(status);
            e.retryAfter().ifPresent(exchange::retryAfter);
            refuse(exchange, status, status < 500 ? "invalid_request" : "temporarily_unavailable", e.userMessage());
        }
    }

    private void renew(Exchange exchange, Map<String, String> form) {
        if (!"refresh_token".equals(form.get("grant_type"))) {
            refuse(exchange, 400, "unsupported_grant_type", "'grant_type' must be refresh_token");
            return;
        }
        switch (signIns.renew(new Secret(form.getOrDefault("refresh_token", "")))) {
            case SignIns.Renewal.Renewed(var proved) -> {
                var tokens = new LinkedHashMap<String, Object>();
                tokens.put("access_token", this.tokens.make(proved.signIn()));
                tokens.put("token_type", "Bearer");
                tokens.put("expires_in", AccessTokens.LIFE.toSeconds());
                tokens.put("refresh_token", proved.secret().text());
                exchange.sendJson(200, tokens);
            }
            case SignIns.Renewal.Unknown() -> {
                notes.notRenewed(exchange, null);
                attempts.wrong(exchange.peer());
                refuse(
                        exchange,
                        400,
                        "invalid_grant",
                        "the refresh token is not good here any more; run `e2b auth login` again");
            }
            case SignIns.Renewal.Reused(var signIn) -> {
                notes.notRenewed(exchange, signIn.person());
                attempts.wrong(exchange.peer());
                refuse(
                        exchange,
                        400,
                        "invalid_grant",
                        "the refresh token was used before, so this sign-in is ended; run `e2b auth login` again");
            }
        }
    }

    private void revoke(Exchange exchange, Map<String, String> form) {
        signIns.revoke(new Secret(form.getOrDefault("token", "")))
                .ifPresent(signIn -> notes.signedOut(exchange, SignInNotes.Way.PROGRAM, signIn.person()));
        exchange.send(200);
    }

    private static void refuse(Exchange exchange, int status, String error, String why) {
        exchange.sendJson(status, Map.of("error", error, "error_description", why));
    }
}
