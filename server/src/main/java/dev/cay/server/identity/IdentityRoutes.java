package dev.cay.server.identity;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Tells everybody how identity tokens of sandboxes are checked. Needs no key, as nothing here is secret.
public final class IdentityRoutes {
    private static final String CONFIGURATION = "/.well-known/openid-configuration";
    private static final String KEYS = "/.well-known/jwks.json";

    private final IdentityTokens tokens;

    public IdentityRoutes(IdentityTokens tokens) {
        this.tokens = tokens;
    }

    public void addTo(Routes routes) {
        routes.on("GET", CONFIGURATION, this::configuration);
        routes.on("GET", KEYS, this::keys);
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
        exchange.with("Cache-Control", "public, max-age=3600")
                .sendJson(200, Map.of("keys", List.of(tokens.publicKey())));
    }
}
