package dev.cay.server.access;

import dev.cay.http.Exchange;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The credential of a request: an API key or a person's token. This class does not check whether it is valid.
public record Credential(String text) {
    static final String FIX = "; `cay env` prints the key of this server as E2B_API_KEY";

    static final String TEAM_HEADER = "X-Team-ID";

    /// The shape of a signed JWT.
    private static final Pattern PERSON_TOKEN = Pattern.compile("[\\w-]+\\.[\\w-]+\\.[\\w-]+");

    /// The credential of the request, from any of the headers that may have it.
    static Credential of(Exchange exchange) {
        String key = exchange.header("X-API-Key");
        if (key != null && !key.isBlank()) {
            return new Credential(key.strip());
        }
        String authorization = exchange.header("Authorization");
        if (authorization == null || authorization.isBlank()) {
            throw unauthenticated(
                    "the API key is missing: send it as header 'X-API-Key' or 'Authorization: Bearer <key>'" + FIX);
        }
        if (!authorization.regionMatches(true, 0, "Bearer ", 0, 7)) {
            throw unauthenticated("the header 'Authorization' must be 'Bearer <key>'" + FIX);
        }
        var bearer = new Credential(authorization.substring(7).strip());
        if (!bearer.text.startsWith(ApiKey.PREFIX) && !bearer.isOfPerson()) {
            throw unauthenticated(
                    "the header 'Authorization' holds neither an API key, which begins with 'e2b_', nor a token of "
                            + "`e2b auth login`" + FIX);
        }
        return bearer;
    }

    /// Whether the request carries the token of a person, valid or not, and not an API key.
    static boolean isOfPerson(Exchange exchange) {
        if (exchange.header(AdminToken.HEADER) != null) {
            return false;
        }
        try {
            return of(exchange).isOfPerson();
        } catch (CayException _) {
            // The guard of the route says what is wrong, and the audit log has it.
            return false;
        }
    }

    /// The team that the path names, else the header.
    static @Nullable TeamId namedTeam(Exchange exchange) {
        String id = exchange.parameters().getOrDefault("teamID", exchange.header(TEAM_HEADER));
        return id == null ? null : new TeamId(id);
    }

    /// The part of an unknown credential that may be shown: the beginning and the end of an API key, as in a list, and
    /// nothing of any other text.
    public static String masked(Exchange exchange) {
        if (exchange.header(AdminToken.HEADER) != null) {
            return "wrong admin token";
        }
        try {
            String text = of(exchange).text;
            return ApiKey.hasShape(text) ? new ApiKey(text).toString() : "not an API key";
        } catch (CayException e) {
            return "none";
        }
    }

    boolean isOfPerson() {
        return PERSON_TOKEN.matcher(text).matches();
    }

    boolean isApiKey() {
        return ApiKey.hasShape(text);
    }

    /// As an API key; refused if it is none.
    ApiKey key() {
        return new ApiKey(text);
    }

    static CayException unauthenticated(String message) {
        return new CayException(ErrorKind.UNAUTHENTICATED, message);
    }

    /// Not the text, which is a secret.
    @Override
    public String toString() {
        return "credential";
    }
}
