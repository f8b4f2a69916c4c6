package dev.cay.server.access;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.HexFormat;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A team's credential: `e2b_` and 40 hexadecimal digits. The clients check this shape themselves.
record ApiKey(String text) {
    static final String PREFIX = "e2b_";
    private static final Pattern SHAPE = Pattern.compile("e2b_[0-9a-fA-F]{40}");

    ApiKey {
        if (!SHAPE.matcher(text).matches()) {
            throw new CayException(
                    ErrorKind.UNAUTHENTICATED,
                    "the API key is malformed: it must be 'e2b_' and 40 hexadecimal digits, this one has %d characters"
                                    .formatted(text.length())
                            + Credential.FIX);
        }
    }

    static boolean hasShape(String text) {
        return SHAPE.matcher(text).matches();
    }

    static ApiKey random(SecureRandom random) {
        byte[] value = new byte[20];
        random.nextBytes(value);
        return new ApiKey(PREFIX + HexFormat.of().formatHex(value));
    }

    /// The hash that is stored instead of the key. Plain SHA-256 suffices, because 160 random bits cannot be guessed.
    String hash() {
        byte[] value = HexFormat.of().parseHex(text, PREFIX.length(), text.length());
        return "$sha256$" + Base64.getEncoder().withoutPadding().encodeToString(sha256(value));
    }

    /// The stored form of the key.
    ///
    /// @param end null for never
    TeamKey kept(Team team, String name, KeyScope scope, Instant now, @Nullable Instant end) {
        String id = UUID.randomUUID().toString();
        // The database has milliseconds, and answers must not change when Cay starts again.
        var made = now.truncatedTo(ChronoUnit.MILLIS);
        var ends = end == null ? null : end.truncatedTo(ChronoUnit.MILLIS);
        return new TeamKey(id, team, name, scope, maskPrefix(), maskSuffix(), made, ends, null, null, null, id);
    }

    String maskPrefix() {
        return text.substring(PREFIX.length(), PREFIX.length() + 2);
    }

    String maskSuffix() {
        return text.substring(text.length() - 4);
    }

    /// Prints the masked key, as a list shows it.
    @Override
    public String toString() {
        return PREFIX + maskPrefix() + "..." + maskSuffix();
    }

    private static byte[] sha256(byte[] value) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(value);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
