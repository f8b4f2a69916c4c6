package dev.cay.server.access;

import dev.cay.life.WholeFile;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HexFormat;

/// The operator's credential, in a file that only root reads. Writing another token into the file changes it.
///
/// @param file made when absent
public record AdminToken(Path file) {
    public static final String HEADER = "X-Admin-Token";

    private static final String NAME = "admin.token";
    private static final String PREFIX = "cay_admin_";
    private static final int BYTES = 32;
    private static final int FINGERPRINT_BYTES = 16;

    /// The token of the Cay with this state directory.
    public static AdminToken in(Path stateDirectory) {
        return new AdminToken(stateDirectory.resolve(NAME));
    }

    /// Creates the token unless the file exists.
    void make(SecureRandom random) {
        if (!Files.exists(file)) {
            renew(random);
        }
    }

    /// Writes a new token; the old one is refused from here on.
    public String renew(SecureRandom random) {
        byte[] value = new byte[BYTES];
        random.nextBytes(value);
        String token = PREFIX + HexFormat.of().formatHex(value);
        try {
            WholeFile.write(file, token + "\n");
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "the admin token %s cannot be written".formatted(file), e);
        }
        return token;
    }

    public String read() {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "the admin token %s cannot be read".formatted(file), e);
        }
    }

    /// A text that differs for each token and reveals nothing about it.
    String fingerprint() {
        return fingerprint(read());
    }

    static String fingerprint(String token) {
        try {
            byte[] hash =
                    MessageDigest.getInstance("SHA-256").digest(token.strip().getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, FINGERPRINT_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    boolean fits(String token) {
        String own = read();
        return own.startsWith(PREFIX)
                && MessageDigest.isEqual(
                        own.getBytes(StandardCharsets.UTF_8), token.strip().getBytes(StandardCharsets.UTF_8));
    }
}
