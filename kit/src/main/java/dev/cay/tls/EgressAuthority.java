package dev.cay.tls;

import dev.cay.life.WholeFile;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/// The certificate authority for connections of sandboxes that the node opens: it signs certificates for servers
/// outside. Made at first use, one for each installation; only sandboxes trust it. Thread-safe.
///
/// `ca.key` (0600) may sign for every host, so it never leaves the node. `ca.pem` is the certificate.
public final class EgressAuthority {
    private static final Duration LEAF_LIFE = Duration.ofDays(30);
    private static final Duration AUTHORITY_RENEW_BEFORE = Duration.ofDays(365);

    /// Finds the certificate for the host for which a connection was opened.
    public interface Certificates {
        /// @param port of the client
        Optional<X509Certificate> of(String address, int port);
    }

    private final Path directory;
    private final InstantSource clock;
    private @Nullable SigningKeys authority;
    private @Nullable KeyPair leafKeys;

    /// @param directory where its files are, or will be
    public EgressAuthority(Path directory, InstantSource clock) {
        this.directory = directory;
        this.clock = clock;
    }

    /// The certificate that sandboxes trust.
    public String pem() {
        try {
            return ServerIdentity.pem("CERTIFICATE", authority().certificate().getEncoded());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("cannot encode the certificate of the egress authority", e);
        }
    }

    /// TLS that shows each client a certificate for the host it connects to.
    public SSLContext tls(Certificates certificates) {
        try {
            var context = SSLContext.getInstance("TLS");
            context.init(new KeyManager[] {new Keys(certificates)}, null, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("no TLS", e);
        }
    }

    private synchronized SigningKeys authority() {
        if (authority == null) {
            try {
                authority = open();
            } catch (IOException | GeneralSecurityException e) {
                throw new IllegalStateException("cannot read or make the egress authority in " + directory, e);
            }
        }
        return authority;
    }

    private SigningKeys open() throws IOException, GeneralSecurityException {
        Path key = directory.resolve("ca.key");
        Path certificate = directory.resolve("ca.pem");
        // The key is written first: with the certificate there, the key surely is.
        if (Files.exists(certificate) && Files.exists(key)) {
            var known = new SigningKeys(
                    ServerIdentity.readKey(Files.readString(key)),
                    ServerIdentity.readCertificates(Files.readString(certificate))
                            .getFirst());
            Instant end = known.certificate().getNotAfter().toInstant();
            if (end.isAfter(clock.instant().plus(AUTHORITY_RENEW_BEFORE))) {
                return known;
            }
        }
        Files.createDirectories(
                directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        // Deleted first, so that an old certificate never exists beside a new key.
        Files.deleteIfExists(certificate);
        byte[] number = new byte[4];
        new SecureRandom().nextBytes(number);
        var made = CertificateIssuer.unlimitedAuthority(HexFormat.of().formatHex(number), clock.instant());
        write(key, ServerIdentity.pem("PRIVATE KEY", made.key().getEncoded()), "rw-------");
        write(certificate, ServerIdentity.pem("CERTIFICATE", made.certificate().getEncoded()), "rw-r--r--");
        return made;
    }

    private static void write(Path file, String text, String mode) throws IOException {
        WholeFile.write(file, text.getBytes(StandardCharsets.US_ASCII), PosixFilePermissions.fromString(mode));
    }

    /// Signs a certificate for a host, a name or an address.
    public X509Certificate sign(String host) {
        try {
            return CertificateIssuer.leaf(authority(), leafKeys().getPublic(), host, clock.instant(), LEAF_LIFE);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("no certificate for " + host, e);
        }
    }

    /// One key for all certificates; it exists only in memory, as long as the daemon runs.
    private synchronized KeyPair leafKeys() throws GeneralSecurityException {
        if (leafKeys == null) {
            EllipticSignatures.prefer();
            leafKeys = CertificateIssuer.busyPair();
        }
        return leafKeys;
    }

    /// Chooses the certificate by the connection and not by the client's SNI, because the rules judged the connection.
    private final class Keys extends X509ExtendedKeyManager {
        private final Certificates certificates;

        Keys(Certificates certificates) {
            this.certificates = certificates;
        }

        /// The alias names the connection.
        @Override
        public @Nullable String chooseEngineServerAlias(
                String keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
            if (engine == null || !keyType.equals("EC")) {
                return null;
            }
            String alias = engine.getPeerHost() + " " + engine.getPeerPort();
            return find(alias).isPresent() ? alias : null;
        }

        private Optional<X509Certificate> find(String alias) {
            int blank = alias.indexOf(' ');
            return certificates.of(alias.substring(0, blank), Integer.parseInt(alias.substring(blank + 1)));
        }

        @Override
        public X509Certificate @Nullable [] getCertificateChain(String alias) {
            return find(alias)
                    .map(leaf -> new X509Certificate[] {leaf, authority().certificate()})
                    .orElse(null);
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            try {
                return leafKeys().getPrivate();
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("no key", e);
            }
        }

        @Override
        public @Nullable String chooseServerAlias(
                String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
            return null;
        }

        @Override
        public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
            return null;
        }

        @Override
        public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
            return null;
        }

        @Override
        public @Nullable String chooseClientAlias(
                String[] keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
            return null;
        }
    }
}
