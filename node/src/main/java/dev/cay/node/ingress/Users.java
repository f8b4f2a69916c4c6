package dev.cay.node.ingress;

import dev.cay.http.Exchange;
import dev.cay.node.files.Account;
import dev.cay.node.files.FileTree;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/// Which user of the sandbox a request speaks for. Naming one is no login: the access token is.
record Users(FileTree files, String defaultUser) {
    private static final String BASIC = "Basic ";

    /// Calls name the user by HTTP Basic, without a password.
    Account ofCall(Exchange exchange) throws IOException {
        String name = basicName(exchange.header("Authorization"));
        String user = name == null || name.isEmpty() ? defaultUser : name;
        return files.findAccount(user)
                .orElseThrow(
                        () -> new CayException(ErrorKind.UNAUTHENTICATED, "invalid username: '%s'".formatted(user)));
    }

    /// File routes name it in the query.
    Account ofQuery(Exchange exchange) throws IOException {
        return named(exchange.query("username"));
    }

    /// The default one if no name is given.
    Account named(@Nullable String name) throws IOException {
        String user = name == null || name.isEmpty() ? defaultUser : name;
        return files.findAccount(user)
                .orElseThrow(() -> new CayException(
                        ErrorKind.UNAUTHENTICATED,
                        "error looking up user '%s': user: unknown user %s".formatted(user, user)));
    }

    private static @Nullable String basicName(@Nullable String header) {
        if (header == null || !header.regionMatches(true, 0, BASIC, 0, BASIC.length())) {
            return null;
        }
        try {
            byte[] decoded =
                    Base64.getDecoder().decode(header.substring(BASIC.length()).strip());
            String pair = new String(decoded, StandardCharsets.UTF_8);
            int colon = pair.indexOf(':');
            return colon < 0 ? pair : pair.substring(0, colon);
        } catch (IllegalArgumentException e) {
            throw new CayException(ErrorKind.UNAUTHENTICATED, "the Authorization header is not Basic base64", e);
        }
    }
}
