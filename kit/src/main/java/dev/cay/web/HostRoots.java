package dev.cay.web;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/// The certificate authorities that this host trusts, with those the operator added: most JDKs bring a list of their
/// own. As for programs that use OpenSSL, the environment variable `SSL_CERT_FILE` names another list.
public final class HostRoots {
    private static final String OTHER_LIST = "SSL_CERT_FILE";
    private static final List<Path> FILES = List.of(
            Path.of("/etc/ssl/certs/ca-certificates.crt"),
            Path.of("/etc/pki/tls/certs/ca-bundle.crt"),
            Path.of("/etc/ssl/cert.pem"));

    private HostRoots() {}

    /// TLS that trusts the host's list, or the JDK's where the host has none.
    public static SSLContext tls() {
        try {
            Optional<Path> file = file();
            return file.isPresent() ? trusting(file.get()) : SSLContext.getDefault();
        } catch (IOException | GeneralSecurityException e) {
            throw new CayException(ErrorKind.INTERNAL, "the certificates this host trusts cannot be read", e);
        }
    }

    /// A trust store for Java programs with the host's authorities and one more.
    ///
    /// @param pem the certificate of the additional authority
    public static byte[] store(String pem) throws IOException, GeneralSecurityException {
        var roots = KeyStore.getInstance("PKCS12");
        roots.load(null, null);
        var file = file();
        if (file.isPresent()) {
            try (var in = Files.newInputStream(file.get())) {
                add(roots, in);
            }
        }
        add(roots, new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII)));
        var out = new ByteArrayOutputStream();
        roots.store(out, "changeit".toCharArray());
        return out.toByteArray();
    }

    private static Optional<Path> file() {
        String other = System.getenv(OTHER_LIST);
        return other != null && !other.isEmpty()
                ? Optional.of(Path.of(other))
                : FILES.stream().filter(Files::isReadable).findFirst();
    }

    private static void add(KeyStore roots, InputStream in) throws GeneralSecurityException {
        for (var root : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
            roots.setCertificateEntry("root" + roots.size(), root);
        }
    }

    private static SSLContext trusting(Path file) throws IOException, GeneralSecurityException {
        var roots = KeyStore.getInstance(KeyStore.getDefaultType());
        roots.load(null, null);
        try (var in = Files.newInputStream(file)) {
            add(roots, in);
        }
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(roots);
        var tls = SSLContext.getInstance("TLS");
        tls.init(null, trust.getTrustManagers(), null);
        return tls;
    }
}
