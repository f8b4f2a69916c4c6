package dev.cay.tls;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/// A certificate authority of this machine, made at first start, and the wildcard certificate that it signed.
///
/// The files are in one directory: `ca.pem` (readable by all), `ca.key` and `server.pem` (0600), `bundle.pem` (the
/// system's roots plus this CA, as some clients read only one file). The CA renews a certificate near its end. It may
/// sign for the domain, `localhost` and loopback alone; for another domain a new CA is made. A CA of an older Cay has
/// no such limits; it stays until its files are removed, as clients trust it.
public final class LocalAuthority {
    private static final Duration RENEW_BEFORE = Duration.ofDays(30);

    private static final Set<PosixFilePermission> SECRET = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> PUBLIC = PosixFilePermissions.fromString("rw-r--r--");
    private static final Set<PosixFilePermission> PASSABLE = PosixFilePermissions.fromString("rwx--x--x");
    private static final List<Path> SYSTEM_ROOTS = List.of(
            Path.of("/etc/ssl/certs/ca-certificates.crt"),
            Path.of("/etc/pki/tls/certs/ca-bundle.crt"),
            Path.of("/etc/ssl/cert.pem"));

    private final Path directory;
    private final String domain;
    private final InstantSource clock;
    private final List<Path> systemRoots;
    private @Nullable SSLContext shown;

    private LocalAuthority(Path directory, String domain, InstantSource clock, List<Path> systemRoots) {
        this.directory = directory;
        this.domain = domain;
        this.clock = clock;
        this.systemRoots = List.copyOf(systemRoots);
    }

    /// Reads the directory or fills it. `domain` without a port; the certificate covers it, `*.domain`,
    /// `localhost` and loopback.
    public static LocalAuthority open(Path directory, String domain) {
        return open(directory, domain, Clock.systemUTC(), SYSTEM_ROOTS);
    }

    static LocalAuthority open(Path directory, String domain, InstantSource clock, List<Path> systemRoots) {
        var authority = new LocalAuthority(directory, domain, clock, systemRoots);
        try {
            authority.prepare();
            return authority;
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException("cannot read or make certificates in " + directory, e);
        }
    }

    /// TLS for all listeners, shared so that a session begun on one of them may be resumed on another.
    public synchronized SSLContext tls() {
        if (shown == null) {
            shown = makeContext();
        }
        return shown;
    }

    private SSLContext makeContext() {
        try {
            return server().tls();
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException("cannot use " + serverFile(), e);
        }
    }

    /// TLS for Cay's own clients: trusts this CA and nothing else.
    public SSLContext trusting() {
        try {
            KeyStore roots = KeyStore.getInstance("PKCS12");
            roots.load(null, null);
            roots.setCertificateEntry("cay", readAuthority());
            var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(roots);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException("cannot use " + caCertificate(), e);
        }
    }

    public Path caCertificate() {
        return directory.resolve("ca.pem");
    }

    public Path bundle() {
        return directory.resolve("bundle.pem");
    }

    private Path caKey() {
        return directory.resolve("ca.key");
    }

    private Path serverFile() {
        return directory.resolve("server.pem");
    }

    private void prepare() throws IOException, GeneralSecurityException {
        Files.createDirectories(directory);
        Files.setPosixFilePermissions(directory, PASSABLE);
        // The key is written before the certificate: with the certificate there, the key surely is.
        if (!Files.exists(caCertificate()) || !Files.exists(caKey()) || !SigningKeys.maySign(readAuthority(), domain)) {
            Files.deleteIfExists(caCertificate());
            SigningKeys made = CertificateIssuer.authority(domain, clock.instant());
            write(caKey(), ServerIdentity.pem("PRIVATE KEY", made.key().getEncoded()), SECRET);
            write(
                    caCertificate(),
                    ServerIdentity.pem("CERTIFICATE", made.certificate().getEncoded()),
                    PUBLIC);
        }
        X509Certificate certificate = readAuthority();
        if (!serverCertificateServes(certificate)) {
            sign(new SigningKeys(ServerIdentity.readKey(Files.readString(caKey())), certificate));
        }
        bundleRoots();
    }

    private void sign(SigningKeys ca) throws IOException, GeneralSecurityException {
        SigningKeys made = CertificateIssuer.server(ca, domain, clock.instant());
        String all = ServerIdentity.pem("PRIVATE KEY", made.key().getEncoded())
                + ServerIdentity.pem("CERTIFICATE", made.certificate().getEncoded())
                + ServerIdentity.pem("CERTIFICATE", ca.certificate().getEncoded());
        write(serverFile(), all, SECRET);
    }

    private boolean serverCertificateServes(X509Certificate ca) {
        if (!Files.exists(serverFile())) {
            return false;
        }
        try {
            var server = server();
            Instant end = server.certificate().getNotAfter().toInstant();
            return server.issuer().equals(ca)
                    && end.isAfter(clock.instant().plus(RENEW_BEFORE))
                    && server.names().contains("*." + domain);
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            // Damaged: a new one costs nothing.
            return false;
        }
    }

    private ServerIdentity server() throws IOException, GeneralSecurityException {
        return ServerIdentity.read(Files.readString(serverFile()));
    }

    private X509Certificate readAuthority() throws IOException, GeneralSecurityException {
        return ServerIdentity.readCertificates(Files.readString(caCertificate()))
                .getFirst();
    }

    private void bundleRoots() throws IOException {
        Path system = systemBundle();
        byte[] roots = system == null ? new byte[0] : Files.readAllBytes(system);
        byte[] own = Files.readAllBytes(caCertificate());
        byte[] all = Arrays.copyOf(roots, roots.length + 1 + own.length);
        all[roots.length] = '\n';
        System.arraycopy(own, 0, all, roots.length + 1, own.length);
        if (!Files.exists(bundle()) || !Arrays.equals(Files.readAllBytes(bundle()), all)) {
            write(bundle(), all, PUBLIC);
        }
    }

    private @Nullable Path systemBundle() {
        return systemRoots.stream().filter(Files::isReadable).findFirst().orElse(null);
    }

    private static void write(Path file, String text, Set<PosixFilePermission> mode) throws IOException {
        write(file, text.getBytes(StandardCharsets.US_ASCII), mode);
    }

    /// Writes a file so that readers never see half of it, nor a secret with open permissions.
    private static void write(Path file, byte[] bytes, Set<PosixFilePermission> mode) throws IOException {
        Path draft = Files.createTempFile(
                file.toAbsolutePath().getParent(), ".draft", "", PosixFilePermissions.asFileAttribute(SECRET));
        try {
            try (OutputStream out = Files.newOutputStream(draft)) {
                out.write(bytes);
            }
            try (var channel = java.nio.channels.FileChannel.open(draft, java.nio.file.StandardOpenOption.WRITE)) {
                channel.force(true);
            }
            Files.setPosixFilePermissions(draft, mode);
            Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(draft);
        }
    }
}
