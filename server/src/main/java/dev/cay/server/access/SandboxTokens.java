package dev.cay.server.access;

import dev.cay.wire.AccessToken;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import dev.cay.wire.VolumeId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// The tokens that open one sandbox. Derived from its id and a secret of this server, so they need no place in the
/// database, and a sandbox has the same ones after pause, resume and restart.
public final class SandboxTokens {
    /// The header with the token for a sandbox's ports.
    public static final String TRAFFIC_HEADER = "e2b-traffic-access-token";

    private static final String ALGORITHM = "HmacSHA256";
    private static final int SECRET_BYTES = 32;

    private final SecretKeySpec secret;

    private SandboxTokens(byte[] secret) {
        this.secret = new SecretKeySpec(secret, ALGORITHM);
    }

    /// Reads the secret, or makes it, readable for its owner only.
    public static SandboxTokens open(Path file, SecureRandom random) {
        try {
            if (!Files.exists(file)) {
                make(file, random);
            }
            byte[] secret = Files.readAllBytes(file);
            if (secret.length != SECRET_BYTES) {
                throw new CayException(
                        ErrorKind.INTERNAL,
                        "%s must hold %d bytes, it has %d; restore it, or remove it to have a new one made (tokens of running sandboxes change then)"
                                .formatted(file, SECRET_BYTES, secret.length));
            }
            return new SandboxTokens(secret);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "the secret %s cannot be read".formatted(file), e);
        }
    }

    /// A text that differs for each Cay and reveals nothing about the secret.
    public String fingerprint() {
        return derive("store").value();
    }

    /// The mark by which this Cay recognizes requests that it changed itself.
    public String mark() {
        return "cay-" + derive("mark").value().substring(0, 16);
    }

    /// The token for the system ports of the sandbox.
    ///
    /// @param version how often its tokens were renewed
    public AccessToken access(SandboxId id, int version) {
        return derive("access:" + versioned(id, version));
    }

    /// The token for its other ports, where traffic is not public.
    public AccessToken traffic(SandboxId id, int version) {
        return derive("traffic:" + versioned(id, version));
    }

    private static String versioned(SandboxId id, int version) {
        return version == 0 ? id.value() : id.value() + ":" + version;
    }

    /// The token for sending one archive of a team's files, until a time in seconds.
    ///
    /// @param holder who was given it
    public AccessToken upload(TeamId team, String hash, long until, String holder) {
        return derive("upload:%s:%s:%d:%s".formatted(team.value(), hash, until, holder));
    }

    /// The token for the files of a volume, until a time in seconds.
    ///
    /// @param holder who was given it
    public AccessToken volume(VolumeId id, long until, String holder) {
        return derive("volume:%s:%d:%s".formatted(id.value(), until, holder));
    }

    /// The read-only token for the files of a volume.
    public AccessToken volumeReader(VolumeId id, long until, String holder) {
        return derive("volume-reader:%s:%d:%s".formatted(id.value(), until, holder));
    }

    /// A key of 256 bits for what the database keeps sealed. A copy of the database alone does not open it.
    public byte[] sealingKey(String purpose) {
        return HexFormat.of().parseHex(derive("seal:" + purpose).value());
    }

    private AccessToken derive(String text) {
        try {
            var mac = Mac.getInstance(ALGORITHM);
            mac.init(secret);
            return new AccessToken(HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8))));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Writes a draft and renames it: half a secret after a crash would invalidate all tokens.
    private static void make(Path file, SecureRandom random) throws IOException {
        Path directory = file.toAbsolutePath().getParent();
        if (directory != null) {
            Files.createDirectories(directory);
        }
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(fresh);
        byte[] secret = new byte[SECRET_BYTES];
        random.nextBytes(secret);
        var ownerOnly = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        var options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        try (var channel = FileChannel.open(fresh, options, ownerOnly)) {
            channel.write(ByteBuffer.wrap(secret));
            channel.force(true);
        } catch (FileAlreadyExistsException e) {
            throw new CayException(ErrorKind.INTERNAL, "another server is starting on " + file, e);
        }
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
    }
}
