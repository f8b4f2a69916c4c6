package dev.cay.node.mcp.oauth;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The header `WWW-Authenticate` of a server: the token that it needs.
///
/// @param metadata address of the document that describes the server as a protected resource; null if it names none
/// @param scopes   what the token must allow; empty if it does not say
/// @param error    a word like `insufficient_scope`; empty if there is none
record BearerChallenge(@Nullable String metadata, List<String> scopes, String error) {
    private static final int LONGEST = 4096;
    private static final int MOST_SCOPES = 64;
    private static final Pattern PARAMETER =
            Pattern.compile("([A-Za-z_]{1,32})\\s*=\\s*(?:\"([^\"\\\\]{0,2048})\"|([^\\s,\"]{1,2048}))");
    private static final Pattern SCOPE = Pattern.compile("[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,128}");

    BearerChallenge {
        scopes = List.copyOf(scopes);
    }

    /// What cannot be read counts as not said.
    static BearerChallenge parse(String header) {
        String text = header.substring(0, Math.min(header.length(), LONGEST));
        int bearer = text.toLowerCase(Locale.ROOT).indexOf("bearer");
        String metadata = null;
        String scope = "";
        String error = "";
        var parameters = PARAMETER.matcher(text);
        boolean found = bearer >= 0 && parameters.find(bearer);
        while (found) {
            String value = parameters.group(2) == null ? parameters.group(3) : parameters.group(2);
            switch (parameters.group(1).toLowerCase(Locale.ROOT)) {
                case "resource_metadata" -> metadata = metadata == null ? value : metadata;
                case "scope" -> scope = scope.isEmpty() ? value : scope;
                case "error" -> error = error.isEmpty() ? value : error;
                default -> {}
            }
            found = parameters.find();
        }
        return new BearerChallenge(metadata, scopes(scope), error);
    }

    /// The valid scopes of a list separated by blanks.
    static List<String> scopes(String text) {
        return Arrays.stream(text.split(" "))
                .filter(scope -> SCOPE.matcher(scope).matches())
                .distinct()
                .limit(MOST_SCOPES)
                .toList();
    }
}
