package dev.cay.node.image.oci;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/// The SHA-256 of some bytes, written `sha256:HEX`. Registries may use other algorithms; images in use do not.
public record Digest(String hex) {
    private static final Pattern HEX = Pattern.compile("[0-9a-f]{64}");
    private static final String PREFIX = "sha256:";

    public Digest {
        if (!HEX.matcher(hex).matches()) {
            throw BadImage.because("%s is no SHA-256 digest".formatted(BadImage.shown(hex)));
        }
    }

    static Digest parse(String text) {
        if (!text.startsWith(PREFIX)) {
            throw BadImage.because("the digest %s is not of the form sha256:HEX".formatted(BadImage.shown(text)));
        }
        return new Digest(text.substring(PREFIX.length()));
    }

    static Digest of(byte[] bytes) {
        return finish(begin(), bytes);
    }

    static Digest of(String text) {
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    static MessageDigest begin() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    static Digest finish(MessageDigest digest) {
        return new Digest(HexFormat.of().formatHex(digest.digest()));
    }

    private static Digest finish(MessageDigest digest, byte[] bytes) {
        digest.update(bytes);
        return finish(digest);
    }

    @Override
    public String toString() {
        return PREFIX + hex;
    }
}
