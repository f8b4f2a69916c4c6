package dev.cay.node.mcp.oauth;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.stream.Collectors;

/// The fixed part of an authorization request.
///
/// @param redirect the address to which the browser is sent afterwards
/// @param scopes   of the token; empty for the authorization server's default
/// @param made     when the descriptions were read that it was made from
record AuthorizationRequest(
        AuthorizationServer server,
        OAuthClient client,
        String resource,
        String redirect,
        List<String> scopes,
        Instant made) {
    AuthorizationRequest {
        scopes = List.copyOf(scopes);
    }

    /// The URL for the browser.
    ///
    /// @param proof the hash of a secret that Cay shows with the code (PKCE)
    String url(String state, String proof) {
        var fields = new LinkedHashMap<String, String>();
        fields.put("response_type", "code");
        fields.put("client_id", client.id());
        fields.put("redirect_uri", redirect);
        fields.put("state", state);
        fields.put("code_challenge", proof);
        fields.put("code_challenge_method", "S256");
        fields.put("resource", resource);
        if (!scopes.isEmpty()) {
            fields.put("scope", String.join(" ", scopes));
        }
        String query = fields.entrySet().stream()
                .map(field -> field.getKey() + "=" + OAuthWeb.encode(field.getValue()))
                .collect(Collectors.joining("&"));
        String base = server.authorization().toString();
        return base + (server.authorization().getRawQuery() == null ? "?" : "&") + query;
    }

    /// A grant without tokens.
    Grant asked(String url) {
        return new Grant(
                url, resource, server.issuer(), server.token(), server.revocation(), client, "", null, 0, scopes);
    }
}
