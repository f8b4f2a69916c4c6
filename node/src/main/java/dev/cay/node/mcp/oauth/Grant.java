package dev.cay.node.mcp.oauth;

import dev.cay.http.Json;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Tokens for one MCP server, with the facts for renewing them. Its text form has none of the tokens.
///
/// @param server     the only address to which the access token may be sent
/// @param resource   the resource of the tokens
/// @param token      endpoint that renews them
/// @param revocation endpoint that revokes them; null without one
/// @param refresh    null without a refresh token
/// @param expires    expiry of the access token, in seconds since 1970; 0 if unknown
/// @param scopes     the requested scopes
record Grant(
        String server,
        String resource,
        String issuer,
        URI token,
        @Nullable URI revocation,
        OAuthClient client,
        String access,
        @Nullable String refresh,
        long expires,
        List<String> scopes) {
    /// A token is renewed when it has less time left than this.
    private static final Duration EARLY = Duration.ofSeconds(60);

    /// Characters that are allowed in a header.
    private static final Pattern TOKEN = Pattern.compile("[\\x21-\\x7e]{1,16384}");

    private static final long LONGEST = Duration.ofDays(3650).toSeconds();

    Grant {
        scopes = List.copyOf(scopes);
    }

    String header() {
        return "Bearer " + access;
    }

    boolean isOver(Instant now) {
        return expires != 0 && expires <= now.getEpochSecond();
    }

    boolean isAboutToExpire(Instant now) {
        return isOver(now.plus(EARLY));
    }

    /// The new grant of an authorization server's answer; null if it has no token.
    static @Nullable Grant from(Grant asked, JsonNode answer, Instant now) {
        String access = answer.path("access_token").asString("");
        String refresh = answer.path("refresh_token").asString("");
        if (!TOKEN.matcher(access).matches()
                || !answer.path("token_type").asString("").equalsIgnoreCase("bearer")) {
            return null;
        }
        long seconds = answer.path("expires_in").asLong(0);
        return new Grant(
                asked.server,
                asked.resource,
                asked.issuer,
                asked.token,
                asked.revocation,
                asked.client,
                access,
                TOKEN.matcher(refresh).matches() ? refresh : asked.refresh,
                seconds <= 0 ? 0 : now.getEpochSecond() + Math.min(seconds, LONGEST),
                asked.scopes);
    }

    ObjectNode tree() {
        var tree = Json.mapper()
                .createObjectNode()
                .put("server", server)
                .put("resource", resource)
                .put("issuer", issuer)
                .put("token", token.toString())
                .put("revocation", revocation == null ? null : revocation.toString())
                .put("access", access)
                .put("refresh", refresh)
                .put("expires", expires)
                .put("scopes", String.join(" ", scopes));
        tree.set("client", client.tree());
        return tree;
    }

    static Grant of(JsonNode tree) {
        var refresh = tree.path("refresh");
        var revocation = tree.path("revocation");
        return new Grant(
                tree.path("server").asString(""),
                tree.path("resource").asString(""),
                tree.path("issuer").asString(""),
                URI.create(tree.path("token").asString("")),
                revocation.isString() ? URI.create(revocation.asString()) : null,
                OAuthClient.of(tree.path("client")),
                tree.path("access").asString(""),
                refresh.isString() ? refresh.asString() : null,
                tree.path("expires").asLong(0),
                BearerChallenge.scopes(tree.path("scopes").asString("")));
    }

    @Override
    public String toString() {
        return "Grant[%s]".formatted(issuer);
    }
}
