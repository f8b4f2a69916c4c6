package dev.cay.server.people;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HexFormat;

/// 256 random bits that a browser, a program or a link holds. The store has only its hash.
///
/// @param text what its holder shows
record Secret(String text) {
    private static final int BYTES = 32;

    /// @param prefix shows the kind of secret to a reader who finds it somewhere
    static Secret random(String prefix, SecureRandom random) {
        byte[] value = new byte[BYTES];
        random.nextBytes(value);
        return new Secret(prefix + HexFormat.of().formatHex(value));
    }

    /// Plain SHA-256 suffices: 256 random bits cannot be guessed.
    String hash() {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Compares in constant time.
    static boolean same(String one, String other) {
        return MessageDigest.isEqual(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public String toString() {
        return "a secret";
    }
}
