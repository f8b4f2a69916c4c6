package dev.cay.server.identity;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Serves the public keys of identity tokens. These routes need no key, because nothing of it is secret. Another route
/// lets the operator replace the signing key.
public final class IdentityRoutes {
    private static final String CONFIGURATION = "/.well-known/openid-configuration";
    private static final String KEYS = "/.well-known/jwks.json";

    private final Access access;
    private final IdentityTokens tokens;

    public IdentityRoutes(Access access, IdentityTokens tokens) {
        this.access = access;
        this.tokens = tokens;
    }

    public void addTo(Routes routes) {
        routes.on("GET", CONFIGURATION, this::configuration);
        routes.on("GET", KEYS, this::keys);
        routes.on("POST", "/admin/identity/rotate", access.guardAdmin(this::rotate));
    }

    private void configuration(Exchange exchange) {
        var answer = new LinkedHashMap<String, Object>();
        answer.put("issuer", tokens.issuer().toString());
        answer.put("jwks_uri", tokens.issuer() + KEYS);
        answer.put("response_types_supported", List.of("id_token"));
        answer.put("subject_types_supported", List.of("public"));
        answer.put("id_token_signing_alg_values_supported", List.of("ES256"));
        exchange.sendJson(200, answer);
    }

    private void keys(Exchange exchange) {
        // Caches may keep it as long as a token lives: a service with an older list does not find a token's key, and
        // asks again.
        exchange.with("Cache-Control", "public, max-age=" + IdentityTokens.LIFE.toSeconds())
                .sendJson(200, Map.of("keys", tokens.publicKeys()));
    }

    private void rotate(Exchange exchange) {
        exchange.sendJson(200, Map.of("keyID", tokens.rotate()));
    }
}
