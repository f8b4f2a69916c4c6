package dev.cay.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import java.io.ByteArrayInputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.InstantSource;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class EgressAuthorityTest {
    @TempDir
    Path directory;

    @Test
    void showsEachClientACertificateForTheHostOfItsConnection() throws Exception {
        var authority = authority();
        var tls = authority.tls((address, port) -> address.equals("127.0.0.1") && port > 0
                ? Optional.of(authority.sign(port == 7 ? "6.6.6.2" : "host" + port + ".test"))
                : Optional.empty());
        assertThat(shake(authority, tls, 1, "host1.test")).isEqualTo("host1.test");
        assertThat(shake(authority, tls, 2, "host2.test")).isEqualTo("host2.test");
        assertThat(shake(authority, tls, 7, "6.6.6.2")).isEqualTo("6.6.6.2");
        assertThatThrownBy(() -> shake(authority, tls, 1, "host2.test")).isInstanceOf(SSLException.class);
        assertThatThrownBy(() -> shake(authority, tls, 0, "host0.test"))
                .as("a connection that nobody announced")
                .isInstanceOf(SSLException.class);
        assertThatThrownBy(() -> shake(
                        new EgressAuthority(directory.resolve("other"), InstantSource.system()), tls, 1, "host1.test"))
                .as("a client that trusts another authority")
                .isInstanceOf(SSLException.class);
    }

    @Test
    void isTheSameAfterARestartAndKeepsItsKeyToItself() throws Exception {
        String pem = authority().pem();
        assertThat(authority().pem()).isEqualTo(pem);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("egress/ca.key"))))
                .isEqualTo("rw-------");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("egress"))))
                .isEqualTo("rwx------");
        Files.delete(directory.resolve("egress/ca.pem"));
        assertThat(authority().pem()).as("half of it is none").isNotEqualTo(pem);
    }

    private EgressAuthority authority() {
        return new EgressAuthority(directory.resolve("egress"), InstantSource.system());
    }

    /// @return the host in the certificate that the client accepted
    private static String shake(EgressAuthority trusted, SSLContext server, int port, String host) throws Exception {
        var roots = KeyStore.getInstance("PKCS12");
        roots.load(null, null);
        var pem = new ByteArrayInputStream(trusted.pem().getBytes(StandardCharsets.US_ASCII));
        roots.setCertificateEntry(
                "root", CertificateFactory.getInstance("X.509").generateCertificate(pem));
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(roots);
        var context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        var client = context.createSSLEngine(host, 443);
        client.setUseClientMode(true);
        var parameters = client.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        client.setSSLParameters(parameters);
        var other = server.createSSLEngine("127.0.0.1", port);
        other.setUseClientMode(false);
        shake(client, other);
        var shown = (X509Certificate) client.getSession().getPeerCertificates()[0];
        return String.valueOf(
                shown.getSubjectAlternativeNames().iterator().next().get(1));
    }

    private static void shake(SSLEngine client, SSLEngine server) throws SSLException {
        var toServer = ByteBuffer.allocate(1 << 16);
        var toClient = ByteBuffer.allocate(1 << 16);
        for (int i = 0; i < 100 && (unfinished(client) || unfinished(server)); i++) {
            step(client, toServer, toClient);
            step(server, toClient, toServer);
        }
    }

    private static boolean unfinished(SSLEngine engine) {
        return engine.getHandshakeStatus() != HandshakeStatus.NOT_HANDSHAKING
                || engine.getSession().getProtocol().equals("NONE");
    }

    private static void step(SSLEngine engine, ByteBuffer out, ByteBuffer in) throws SSLException {
        for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
            task.run();
        }
        switch (engine.getHandshakeStatus()) {
            case NEED_UNWRAP -> {
                in.flip();
                engine.unwrap(in, ByteBuffer.allocate(1 << 16));
                in.compact();
            }
            case NEED_WRAP -> engine.wrap(ByteBuffer.allocate(0), out);
            default -> {
                if (engine.getSession().getProtocol().equals("NONE")) {
                    engine.beginHandshake();
                }
            }
        }
    }
}
