package dev.cay.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/// A certificate authority of this machine's own, made at first start, and the wildcard certificate it signed.
///
/// Lies in one directory: `ca.pem` (readable by all), `ca.key` and `server.p12` (0600), `bundle.pem` (the system's
/// roots plus our CA, as some clients read only one file). A certificate near its end is signed anew by the same CA.
public final class LocalAuthority {
    private static final Duration RENEW_BEFORE = Duration.ofDays(30);
    /// The file is the secret; the format merely insists on a password.
    private static final char[] PASSWORD = "cay".toCharArray();

    private static final Set<PosixFilePermission> SECRET = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> PUBLIC = PosixFilePermissions.fromString("rw-r--r--");
    private static final List<Path> SYSTEM_ROOTS = List.of(
            Path.of("/etc/ssl/certs/ca-certificates.crt"),
            Path.of("/etc/pki/tls/certs/ca-bundle.crt"),
            Path.of("/etc/ssl/cert.pem"));

    private final Path directory;
    private final String domain;
    private final InstantSource clock;
    private final List<Path> systemRoots;
    private @Nullable KeyStore loaded;
    private @Nullable SSLContext shown;

    private LocalAuthority(Path directory, String domain, InstantSource clock, List<Path> systemRoots) {
        this.directory = directory;
        this.domain = domain;
        this.clock = clock;
        this.systemRoots = List.copyOf(systemRoots);
    }

    /// Reads the directory or fills it. `domain` without a port; the certificate covers it, `*.domain`, `localhost` and
    /// loopback.
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

    /// One for all listeners: a session begun on one of them may be resumed on another.
    public synchronized SSLContext tls() {
        if (shown == null) {
            shown = makeContext();
        }
        return shown;
    }

    private SSLContext makeContext() {
        try {
            var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(server(), PASSWORD);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), null, null);
            return context;
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException("cannot use " + serverFile(), e);
        }
    }

    /// For our own clients: trusts this CA and nothing else.
    public SSLContext trusting() {
        try {
            KeyStore roots = KeyStore.getInstance("PKCS12");
            roots.load(null, null);
            roots.setCertificateEntry("cay", SigningKeys.readCertificate(Files.readString(caCertificate())));
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
        return directory.resolve("server.p12");
    }

    private void prepare() throws IOException, GeneralSecurityException {
        Files.createDirectories(directory);
        // The key is written before the certificate: with the certificate there, the key surely is.
        if (!Files.exists(caCertificate()) || !Files.exists(caKey())) {
            SigningKeys made = SigningKeys.authority(clock.instant());
            write(caKey(), SigningKeys.pem("PRIVATE KEY", made.key().getEncoded()), SECRET);
            write(
                    caCertificate(),
                    SigningKeys.pem("CERTIFICATE", made.certificate().getEncoded()),
                    PUBLIC);
        }
        X509Certificate certificate = SigningKeys.readCertificate(Files.readString(caCertificate()));
        if (!serverCertificateServes(certificate)) {
            sign(new SigningKeys(SigningKeys.readKey(Files.readString(caKey())), certificate));
        }
        bundleRoots();
    }

    private void sign(SigningKeys ca) throws IOException, GeneralSecurityException {
        SigningKeys made = SigningKeys.server(ca, domain, clock.instant());
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("server", made.key(), PASSWORD, new Certificate[] {made.certificate(), ca.certificate()});
        var bytes = new java.io.ByteArrayOutputStream();
        store.store(bytes, PASSWORD);
        write(serverFile(), bytes.toByteArray(), SECRET);
        loaded = store;
    }

    private boolean serverCertificateServes(X509Certificate ca) {
        if (!Files.exists(serverFile())) {
            return false;
        }
        try {
            var certificate = (X509Certificate) server().getCertificate("server");
            certificate.verify(ca.getPublicKey());
            boolean lasts = certificate
                    .getNotAfter()
                    .toInstant()
                    .isAfter(clock.instant().plus(RENEW_BEFORE));
            return lasts && SigningKeys.names(certificate).contains("*." + domain);
        } catch (IOException | GeneralSecurityException e) {
            // Damaged, or signed by a CA that is no more: a new one costs nothing.
            return false;
        }
    }

    /// Read once: its format makes guessing its password slow, and so every reading.
    private KeyStore server() throws IOException, GeneralSecurityException {
        if (loaded != null) {
            return loaded;
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(serverFile())) {
            store.load(in, PASSWORD);
        }
        loaded = store;
        return store;
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

    /// Never shows half a file, nor a secret that others may read for a moment.
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
