package dev.cay.wire;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The signature of a file URL, by which the holder of a sandbox's access token allows others to read or write one
/// file.
///
/// Such a URL may name no sandbox; then the token that made it identifies the sandbox.
///
/// @param path       as the client wrote it, unresolved
/// @param operation  `read` or `write`
/// @param expiration Unix seconds as in the URL, or null
public record FileSignature(
        String path,
        String operation,
        String user,
        @Nullable String expiration,
        String value) {
    private static final Pattern SHAPE = Pattern.compile("v1_[A-Za-z0-9+/]{43}");

    /// Reads the signature of a request; empty when there is none or it is malformed.
    ///
    /// @param method of the request
    /// @param query  a parameter of its URL by name, or null
    public static Optional<FileSignature> of(String method, Function<String, @Nullable String> query) {
        String value = query.apply("signature");
        if (value == null || !SHAPE.matcher(value).matches()) {
            return Optional.empty();
        }
        return Optional.of(new FileSignature(
                orEmpty(query.apply("path")),
                method.equals("POST") ? "write" : "read",
                orEmpty(query.apply("username")),
                query.apply("signature_expiration"),
                value));
    }

    public static String sign(String path, String operation, String user, @Nullable String expiration, String token) {
        String text = path + ":" + operation + ":" + user + ":" + token + (expiration == null ? "" : ":" + expiration);
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return "v1_" + Base64.getEncoder().withoutPadding().encodeToString(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Whether the token made the signature. The caller checks the expiration.
    public boolean madeWith(AccessToken token) {
        byte[] expected = sign(path, operation, user, expiration, token.value()).getBytes(StandardCharsets.US_ASCII);
        return MessageDigest.isEqual(expected, value.getBytes(StandardCharsets.US_ASCII));
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }
}
