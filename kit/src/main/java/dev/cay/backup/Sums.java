package dev.cay.backup;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/// The check sum that parts have.
final class Sums {
    /// Bytes of a sum.
    static final int LENGTH = 32;

    private Sums() {}

    static MessageDigest begin() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
