package dev.cay.prove;

import dev.cay.platform.OwnCay;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// What a client asks to be built.
interface BuildOrder {
    /// Of the template.
    String name();

    /// What the API is told to build.
    String body();

    /// The archive that is sent before; empty for none.
    default byte[] files() {
        return new byte[0];
    }

    default String filesHash() {
        return digest(files());
    }

    /// What is wrong with a sandbox of the template; empty for nothing.
    String wrong(OwnCay cay) throws IOException, InterruptedException;

    static String digest(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
