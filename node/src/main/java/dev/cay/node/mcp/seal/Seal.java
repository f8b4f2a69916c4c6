package dev.cay.node.mcp.seal;

import dev.cay.life.WholeFile;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Optional;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/// Encrypts credentials on disk so that only this installation can read them: copies of its snapshots and disks are
/// useless without the key, which is stored elsewhere. Thread-safe.
public final class Seal {
    private static final int KEY_BYTES = 32;
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;
    private static final byte[] PURPOSE = {'c', 'a', 'y', '-', 'm', 'c', 'p', 1};

    private final SecretKeySpec key;
    private final SecureRandom random = new SecureRandom();

    private Seal(byte[] key) {
        this.key = new SecretKeySpec(key, "AES");
    }

    /// @param file made if it is not there, for root alone
    public static Seal with(Path file) throws IOException {
        try {
            byte[] key = Files.readAllBytes(file);
            if (key.length != KEY_BYTES) {
                throw new CayException(
                        ErrorKind.CONFLICT,
                        "%s is no key of %d bytes; restore it, or delete it and lose the settings of MCP gateways that run"
                                .formatted(file, KEY_BYTES));
            }
            return new Seal(key);
        } catch (NoSuchFileException e) {
            byte[] key = new byte[KEY_BYTES];
            new SecureRandom().nextBytes(key);
            WholeFile.write(file, key, PosixFilePermissions.fromString("rw-------"));
            return new Seal(key);
        }
    }

    public byte[] close(byte[] plain) {
        byte[] nonce = new byte[NONCE_BYTES];
        random.nextBytes(nonce);
        try {
            byte[] sealed = cipher(Cipher.ENCRYPT_MODE, nonce).doFinal(plain);
            byte[] all = Arrays.copyOf(nonce, NONCE_BYTES + sealed.length);
            System.arraycopy(sealed, 0, all, NONCE_BYTES, sealed.length);
            return all;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Empty when it was sealed with another key, or changed.
    public Optional<byte[]> open(byte[] sealed) {
        if (sealed.length < NONCE_BYTES) {
            return Optional.empty();
        }
        try {
            var cipher = cipher(Cipher.DECRYPT_MODE, Arrays.copyOf(sealed, NONCE_BYTES));
            return Optional.of(cipher.doFinal(sealed, NONCE_BYTES, sealed.length - NONCE_BYTES));
        } catch (GeneralSecurityException e) {
            return Optional.empty();
        }
    }

    private Cipher cipher(int mode, byte[] nonce) throws GeneralSecurityException {
        var cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(PURPOSE);
        return cipher;
    }
}
