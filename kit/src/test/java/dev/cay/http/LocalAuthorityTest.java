package dev.cay.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
        open(DAY_ONE.plus(Duration.ofDays(340)), "example.org");
        assertThat(Files.readAllBytes(tls("server.pem"))).isNotEqualTo(renewed);
        assertThat(Files.readAllBytes(tls("ca.pem"))).isEqualTo(authority);
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
