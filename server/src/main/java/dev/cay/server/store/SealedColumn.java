package dev.cay.server.store;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/// Seals texts for the database with a key of 256 bits that is not in it. Thread-safe.
public final class SealedColumn {
    private static final String CIPHER = "AES/GCM/NoPadding";
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;

    private final SecretKeySpec key;
    private final SecureRandom random;

    public SealedColumn(byte[] key, SecureRandom random) {
        this.key = new SecretKeySpec(key, "AES");
        this.random = random;
    }

    /// @param row to which the result is bound: in another row it cannot be opened
    public String seal(String row, String text) {
        byte[] nonce = new byte[NONCE_BYTES];
        random.nextBytes(nonce);
        return seal(row, text, nonce);
    }

    /// Seals so that equal texts give equal results in the same row, because the nonce is derived from the text: for
    /// values that are compared. A reader of the database sees which are equal.
    public String sealEqually(String row, String text) {
        try {
            var mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key.getEncoded(), "HmacSHA256"));
            mac.update(row.getBytes(StandardCharsets.UTF_8));
            mac.update((byte) 0);
            byte[] digest = mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
            return seal(row, text, Arrays.copyOf(digest, NONCE_BYTES));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private String seal(String row, String text, byte[] nonce) {
        try {
            var sealed = cipher(Cipher.ENCRYPT_MODE, nonce, row).doFinal(text.getBytes(StandardCharsets.UTF_8));
            var all =
                    ByteBuffer.allocate(nonce.length + sealed.length).put(nonce).put(sealed);
            return Base64.getEncoder().encodeToString(all.array());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /// @throws GeneralSecurityException if it was sealed with another key, for another row, or was changed
    public String open(String row, String sealed) throws GeneralSecurityException {
        try {
            byte[] all = Base64.getDecoder().decode(sealed);
            byte[] nonce = new byte[NONCE_BYTES];
            ByteBuffer.wrap(all).get(nonce);
            var text = cipher(Cipher.DECRYPT_MODE, nonce, row).doFinal(all, NONCE_BYTES, all.length - NONCE_BYTES);
            return new String(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException | BufferUnderflowException e) {
            throw new GeneralSecurityException("not a sealed text", e);
        }
    }

    private Cipher cipher(int mode, byte[] nonce, String row) throws GeneralSecurityException {
        var cipher = Cipher.getInstance(CIPHER);
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(row.getBytes(StandardCharsets.UTF_8));
        return cipher;
    }
}
