package dev.cay.server.webhook;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/// Seals the secrets of webhooks for the database, and signs bodies with them.
///
/// A hash of the secret would not do: each signature needs the secret itself.
final class SigningSecrets {
    private static final String CIPHER = "AES/GCM/NoPadding";
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;

    private final SecretKeySpec key;
    private final SecureRandom random;

    SigningSecrets(byte[] key, SecureRandom random) {
        this.key = new SecretKeySpec(key, "AES");
        this.random = random;
    }

    /// @param webhookId to which the result is bound: in the row of another webhook it cannot be opened
    String seal(String webhookId, String secret) {
        byte[] nonce = new byte[NONCE_BYTES];
        random.nextBytes(nonce);
        try {
            var sealed = cipher(Cipher.ENCRYPT_MODE, nonce, webhookId).doFinal(secret.getBytes(StandardCharsets.UTF_8));
            var all =
                    ByteBuffer.allocate(nonce.length + sealed.length).put(nonce).put(sealed);
            return Base64.getEncoder().encodeToString(all.array());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /// What the contract wants in the header `e2b-signature`: a plain hash of secret and body, not an HMAC.
    String sign(Webhook webhook, String body) {
        try {
            var digest = MessageDigest.getInstance("SHA-256");
            digest.update(open(webhook));
            digest.update(body.getBytes(StandardCharsets.UTF_8));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private byte[] open(Webhook webhook) {
        try {
            byte[] all = Base64.getDecoder().decode(webhook.sealedSecret());
            var nonce = ByteBuffer.wrap(all, 0, NONCE_BYTES);
            return cipher(Cipher.DECRYPT_MODE, bytes(nonce), webhook.id())
                    .doFinal(all, NONCE_BYTES, all.length - NONCE_BYTES);
        } catch (GeneralSecurityException | IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new CayException(
                    ErrorKind.INTERNAL,
                    "the signature secret cannot be opened, as the secret file of this Cay was replaced; set 'signatureSecret' of the webhook again",
                    e);
        }
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    private Cipher cipher(int mode, byte[] nonce, String webhookId) throws GeneralSecurityException {
        var cipher = Cipher.getInstance(CIPHER);
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(webhookId.getBytes(StandardCharsets.UTF_8));
        return cipher;
    }
}
