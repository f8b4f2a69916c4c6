package dev.cay.server.network;

import dev.cay.server.request.RequestBody;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Reads `iam.tokens`: the identity tokens that rules of a sandbox can name.
final class IdentityReader {
    private static final int MOST = 5;
    private static final String TYPE = "JWT-SVID";
    private static final int MOST_AUDIENCE = 1024;

    private IdentityReader() {}

    /// @return audiences by the names of tokens; null for none
    static @Nullable Map<String, String> read(RequestBody body) {
        var tokens = body.object("iam").objectsByName("tokens");
        if (tokens.size() > MOST) {
            throw Destinations.refusal("iam.tokens: too many tokens: %d (max %d)".formatted(tokens.size(), MOST));
        }
        var audiences = new TreeMap<String, String>();
        tokens.forEach((name, token) -> audiences.put(checked(name), audience(name, token)));
        return audiences.isEmpty() ? null : audiences;
    }

    private static String checked(String name) {
        if (name.isBlank() || name.chars().anyMatch(c -> c == '{' || c == '}' || Character.isISOControl(c))) {
            throw RequestBody.invalid(
                    "'iam.tokens' has a token with a name that is empty or has '{', '}' or control characters");
        }
        return name;
    }

    private static String audience(String name, RequestBody token) {
        String audience = token.filled("audience");
        if (audience == null || audience.length() > MOST_AUDIENCE) {
            throw RequestBody.invalid("'iam.tokens.%s.audience' must say in 1 to %d characters whom the token is for"
                    .formatted(Destinations.shown(name), MOST_AUDIENCE));
        }
        String type = token.text("tokenType");
        if (!TYPE.equals(type)) {
            throw RequestBody.invalid(
                    "'iam.tokens.%s.tokenType' must be %s, not '%s'".formatted(Destinations.shown(name), TYPE, type));
        }
        return audience;
    }
}
