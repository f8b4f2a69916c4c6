package dev.cay.node.ingress;

import dev.cay.http.Exchange;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/// Signed file URLs: whoever knows the access token can let somebody else read or write one file.
public final class UrlSignature {
    private UrlSignature() {}

    /// @param operation `read` or `write`
    /// @param path      as the client wrote it, unresolved
    /// @param expiresAt Unix seconds, or null
    public static String of(
            String path, String operation, String user, String accessToken, @Nullable String expiresAt) {
        String raw = path + ":" + operation + ":" + user + ":" + accessToken;
        if (expiresAt != null) {
            raw += ":" + expiresAt;
        }
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(raw.getBytes(StandardCharsets.UTF_8));
            return "v1_" + Base64.getEncoder().withoutPadding().encodeToString(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    /// Lets a request to `/files` pass that has the token or a signature, and refuses all others.
    static void check(Exchange exchange, String operation, @Nullable String token, Instant now) {
        if (token == null) {
            return;
        }
        String given = exchange.header("X-Access-Token");
        if (given != null) {
            if (!Envd.matches(token, given)) {
                throw refused("access token present in header but does not match");
            }
            return;
        }
        String signature = exchange.query("signature");
        if (signature == null || signature.isEmpty()) {
            throw refused("missing signature query parameter");
        }
        String expiresAt = exchange.query("signature_expiration");
        String expected =
                of(orEmpty(exchange.query("path")), operation, orEmpty(exchange.query("username")), token, expiresAt);
        if (!Envd.matches(expected, signature)) {
            throw refused("invalid signature");
        }
        if (expiresAt != null && seconds(expiresAt) < now.getEpochSecond()) {
            throw refused("signature is already expired");
        }
    }

    private static long seconds(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw refused("invalid signature");
        }
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }

    private static CayException refused(String message) {
        return new CayException(ErrorKind.UNAUTHENTICATED, message);
    }
}
