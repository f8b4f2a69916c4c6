package dev.cay.server.edge;

import dev.cay.http.Exchange;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The signature of a file URL that names no sandbox: whose token made it tells which one is meant. Whether it is good,
/// and not too old, is checked there once more.
record FileSignature(
        String path,
        String operation,
        String user,
        @Nullable String expiration,
        String signature) {
    private static final Pattern SHAPE = Pattern.compile("v1_[A-Za-z0-9+/]{43}");

    /// Empty when it cannot be one, so that nonsense costs nothing.
    static Optional<FileSignature> of(Exchange exchange) {
        String signature = exchange.query("signature");
        if (signature == null || !SHAPE.matcher(signature).matches()) {
            return Optional.empty();
        }
        return Optional.of(new FileSignature(
                orEmpty(exchange.query("path")),
                exchange.method().equals("POST") ? "write" : "read",
                orEmpty(exchange.query("username")),
                exchange.query("signature_expiration"),
                signature));
    }

    boolean madeWith(String token) {
        String text = path + ":" + operation + ":" + user + ":" + token + (expiration == null ? "" : ":" + expiration);
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            String expected = "v1_" + Base64.getEncoder().withoutPadding().encodeToString(hash);
            return MessageDigest.isEqual(
                    expected.getBytes(StandardCharsets.US_ASCII), signature.getBytes(StandardCharsets.US_ASCII));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }
}
