package dev.cay.server.webhook;

import dev.cay.server.store.SealedColumn;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;

/// Seals the secrets of webhooks for the database, and signs bodies with them.
///
/// A hash of the secret would not do: each signature needs the secret itself.
final class SigningSecrets {
    private final SealedColumn column;

    SigningSecrets(byte[] key, SecureRandom random) {
        this.column = new SealedColumn(key, random);
    }

    /// @param webhookId to which the result is bound: in the row of another webhook it cannot be opened
    String seal(String webhookId, String secret) {
        return column.seal(webhookId, secret);
    }

    /// The value of the header `e2b-signature`: as the protocol requires, a plain hash of secret and body, not an HMAC.
    String sign(Webhook webhook, String body) {
        try {
            var digest = MessageDigest.getInstance("SHA-256");
            digest.update(open(webhook).getBytes(StandardCharsets.UTF_8));
            digest.update(body.getBytes(StandardCharsets.UTF_8));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private String open(Webhook webhook) {
        try {
            return column.open(webhook.id(), webhook.sealedSecret());
        } catch (GeneralSecurityException e) {
            throw new CayException(
                    ErrorKind.INTERNAL,
                    "the signature secret cannot be opened, as the secret file of this Cay was replaced; set 'signatureSecret' of the webhook again",
                    e);
        }
    }
}
