package dev.cay.server.network;

import dev.cay.server.access.SandboxTokens;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/// Seals passwords of egress proxies for the database.
///
/// Equal passwords give equal results, as the nonce is made of the password: a create that is repeated must be
/// known as the same.
final class ProxyPasswords {
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;

    private final byte[] key;

    ProxyPasswords(SandboxTokens tokens) {
        this.key = tokens.sealingKey("egress-proxy");
    }

    String seal(String password) {
        try {
            byte[] text = password.getBytes(StandardCharsets.UTF_8);
            var mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            byte[] nonce = Arrays.copyOf(mac.doFinal(text), NONCE_BYTES);
            byte[] sealed = cipher(Cipher.ENCRYPT_MODE, nonce).doFinal(text);
            byte[] all = Arrays.copyOf(nonce, NONCE_BYTES + sealed.length);
            System.arraycopy(sealed, 0, all, NONCE_BYTES, sealed.length);
            return Base64.getEncoder().encodeToString(all);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    String open(String sealed) {
        try {
            byte[] all = Base64.getDecoder().decode(sealed);
            byte[] text = cipher(Cipher.DECRYPT_MODE, Arrays.copyOf(all, NONCE_BYTES))
                    .doFinal(all, NONCE_BYTES, all.length - NONCE_BYTES);
            return new String(text, StandardCharsets.UTF_8);
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new CayException(
                    ErrorKind.INTERNAL,
                    "the password of the egress proxy cannot be opened, as the secret file of this Cay was replaced; set 'egressProxy' again",
                    e);
        }
    }

    private Cipher cipher(int mode, byte[] nonce) throws GeneralSecurityException {
        var cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, new SecretKeySpec(key, "AES"), new GCMParameterSpec(TAG_BITS, nonce));
        return cipher;
    }
}
