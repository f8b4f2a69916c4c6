package dev.cay.node.mcp.oauth;

import dev.cay.http.Json;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The client id and secret of this Cay at one authorization server. Its text form has the id only.
///
/// @param method  of authentication: `none`, `client_secret_post` or `client_secret_basic`
/// @param expires expiry of the secret, in seconds since 1970; 0 for never
record OAuthClient(String id, @Nullable String secret, String method, long expires) {
    static final String NONE = "none";
    static final String POST = "client_secret_post";
    static final String BASIC = "client_secret_basic";

    boolean isGood(Instant now) {
        return expires == 0 || expires > now.getEpochSecond();
    }

    /// The form with what identifies it.
    Map<String, String> identify(Map<String, String> form) {
        var all = new LinkedHashMap<>(form);
        if (!method.equals(BASIC)) {
            all.put("client_id", id);
        }
        if (secret != null && method.equals(POST)) {
            all.put("client_secret", secret);
        }
        return all;
    }

    /// The headers that identify it.
    Map<String, String> headers() {
        if (secret == null || !method.equals(BASIC)) {
            return Map.of();
        }
        String both = OAuthWeb.encode(id) + ":" + OAuthWeb.encode(secret);
        return Map.of(
                "Authorization",
                "Basic " + Base64.getEncoder().encodeToString(both.getBytes(StandardCharsets.US_ASCII)));
    }

    ObjectNode tree() {
        return Json.mapper()
                .createObjectNode()
                .put("id", id)
                .put("secret", secret)
                .put("method", method)
                .put("expires", expires);
    }

    static OAuthClient of(JsonNode tree) {
        var secret = tree.path("secret");
        return new OAuthClient(
                tree.path("id").asString(""),
                secret.isString() ? secret.asString() : null,
                tree.path("method").asString(NONE),
                tree.path("expires").asLong(0));
    }

    @Override
    public String toString() {
        return "OAuthClient[%s]".formatted(id);
    }
}
