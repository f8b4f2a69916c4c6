package dev.cay.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.CertPathValidator;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Date;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
class LocalAuthorityTest {
    private static final Instant DAY_ONE = Instant.parse("2026-03-01T00:00:00Z");

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @SuppressWarnings("NullAway.Init")
    private Path roots;

    @BeforeEach
    void rootsOfTheSystem() throws Exception {
        roots = Files.writeString(directory.resolve("roots"), "# roots");
    }

    @Test
    void fillsItsDirectoryAndHidesTheKeys() throws Exception {
        open(DAY_ONE, "cay.localhost");
        assertThat(mode("ca.pem")).isEqualTo("rw-r--r--");
        assertThat(mode("bundle.pem")).isEqualTo("rw-r--r--");
        assertThat(mode("ca.key")).isEqualTo("rw-------");
        assertThat(mode("server.pem")).isEqualTo("rw-------");
        assertThat(Files.readString(tls("bundle.pem"))).startsWith("# roots\n-----BEGIN CERTIFICATE-----");
        try (var files = Files.list(directory.resolve("tls"))) {
            assertThat(files.toList()).hasSize(4);
        }
    }

    @Test
    void keepsWhatStillServes() throws Exception {
        open(DAY_ONE, "cay.localhost");
        byte[] server = Files.readAllBytes(tls("server.pem"));
        open(DAY_ONE.plus(Duration.ofDays(300)), "cay.localhost");
        assertThat(Files.readAllBytes(tls("server.pem"))).isEqualTo(server);
    }

    @Test
    void signsAnewNearTheEndAndForAnotherDomain() throws Exception {
        open(DAY_ONE, "cay.localhost");
        byte[] authority = Files.readAllBytes(tls("ca.pem"));
        byte[] server = Files.readAllBytes(tls("server.pem"));
        open(DAY_ONE.plus(Duration.ofDays(340)), "cay.localhost");
        byte[] renewed = Files.readAllBytes(tls("server.pem"));
        assertThat(renewed).isNotEqualTo(server);
        assertThat(Files.readAllBytes(tls("ca.pem"))).isEqualTo(authority);
        open(DAY_ONE.plus(Duration.ofDays(340)), "box.cay.localhost");
        assertThat(Files.readAllBytes(tls("server.pem"))).isNotEqualTo(renewed);
        assertThat(Files.readAllBytes(tls("ca.pem"))).isEqualTo(authority);
    }

    @Test
    void makesAnotherAuthorityForADomainThatTheFirstMayNotSignFor() throws Exception {
        open(DAY_ONE, "cay.localhost");
        byte[] authority = Files.readAllBytes(tls("ca.pem"));
        open(DAY_ONE, "example.org");
        assertThat(Files.readAllBytes(tls("ca.pem"))).isNotEqualTo(authority);
        var server = ServerIdentity.read(Files.readString(tls("server.pem")));
        assertThat(server.names()).contains("*.example.org");
        server.certificate().verify(server.issuer().getPublicKey());
        validate(server.certificate(), server.issuer());
    }

    /// Whoever gets the key of the authority can pose as this Cay and as nobody else.
    @Test
    void whatTheAuthoritySignsForOthersIsNotTrusted() throws Exception {
        open(DAY_ONE, "cay.example");
        var ca = new SigningKeys(
                ServerIdentity.readKey(Files.readString(tls("ca.key"))),
                ServerIdentity.readCertificates(Files.readString(tls("ca.pem"))).getFirst());
        validate(CertificateIssuer.server(ca, "cay.example", DAY_ONE).certificate(), ca.certificate());
        validate(CertificateIssuer.server(ca, "deep.cay.example", DAY_ONE).certificate(), ca.certificate());
        for (String other : List.of("bank.example", "notcay.example", "example")) {
            var forged = CertificateIssuer.server(ca, other, DAY_ONE).certificate();
            assertThatThrownBy(() -> validate(forged, ca.certificate())).isInstanceOf(CertPathValidatorException.class);
        }
    }

    /// Java looks for name constraints in certificates of the path and not in the trusted one, so the
    /// authority stands in the path and its key is what is trusted.
    private static void validate(X509Certificate server, X509Certificate ca) throws Exception {
        var parameters =
                new PKIXParameters(Set.of(new TrustAnchor(ca.getSubjectX500Principal(), ca.getPublicKey(), null)));
        parameters.setRevocationEnabled(false);
        parameters.setDate(Date.from(DAY_ONE));
        var path = CertificateFactory.getInstance("X.509").generateCertPath(List.of(server, ca));
        CertPathValidator.getInstance("PKIX").validate(path, parameters);
    }

    @Test
    void followsTheRootsOfTheSystem() throws Exception {
        open(DAY_ONE, "cay.localhost");
        Files.writeString(roots, "# other roots");
        open(DAY_ONE, "cay.localhost");
        assertThat(Files.readString(tls("bundle.pem"))).startsWith("# other roots\n-----BEGIN");
    }

    private void open(Instant now, String domain) {
        LocalAuthority.open(directory.resolve("tls"), domain, InstantSource.fixed(now), List.of(roots))
                .tls();
    }

    private Path tls(String name) {
        return directory.resolve("tls").resolve(name);
    }

    private String mode(String name) throws Exception {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(tls(name)));
    }
}
