package dev.cay.node.image;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.Programs;
import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class NodeLayerTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    @TempDir
    private Path dir;

    private LayerStore layers;

    @BeforeEach
    void makeTemplate() {
        layers = new LayerStore(dir.resolve("cache"));
        layers.build("template", rootfs -> {
            Files.createDirectories(rootfs.resolve("etc/ssl/certs"));
            Files.writeString(rootfs.resolve("etc/ssl/certs/ca-certificates.crt"), "THE PUBLIC ROOTS");
        });
    }

    @Test
    void trustsCayAndTheOperatorsAuthorities() throws Exception {
        var authority = certificate("cay.pem", "/CN=Cay  Local CA/O=Cäy");
        var operators = Files.createDirectories(dir.resolve("operator"));
        Files.copy(certificate("corp.pem", "/C=DE/O=Corp"), operators.resolve("corp.crt"));
        Files.writeString(operators.resolve("oops.crt"), "-----BEGIN PRIVATE KEY-----");
        var rootfs =
                layers.require(new NodeLayer(layers, "10.9.0.1", authority, operators).require(List.of("template")));

        assertThat(rootfs.resolve("etc/resolv.conf")).content().startsWith("nameserver 10.9.0.1\n");
        String bundle = Files.readString(rootfs.resolve("etc/ssl/certs/ca-certificates.crt"));
        assertThat(bundle)
                .startsWith("THE PUBLIC ROOTS\n")
                .contains(Files.readString(authority))
                .doesNotContain("PRIVATE");
        assertThat(rootfs.resolve("usr/local/share/ca-certificates/host-corp.crt"))
                .exists();
        for (String name : new String[] {"cay.crt", "host-corp.crt"}) {
            var file = rootfs.resolve("usr/local/share/ca-certificates").resolve(name);
            assertThat(rootfs.resolve("etc/ssl/certs")
                            .resolve(opensslHash(file) + ".0")
                            .toRealPath())
                    .isEqualTo(file.toRealPath());
        }
    }

    @Test
    void hasAKeyThatFollowsFromItsContent() throws Exception {
        var one = certificate("one.pem", "/CN=one");
        var two = certificate("two.pem", "/CN=two");
        String key = new NodeLayer(layers, "10.9.0.1", one, null).require(List.of("template"));
        assertThat(new NodeLayer(layers, "10.9.0.1", one, null).require(List.of("template")))
                .isEqualTo(key);
        assertThat(new NodeLayer(layers, "10.9.0.1", two, null).require(List.of("template")))
                .isNotEqualTo(key);
        assertThat(new NodeLayer(layers, "10.8.0.1", one, null).require(List.of("template")))
                .isNotEqualTo(key);
    }

    @Test
    void readsNoFileOfTheHostThroughATemplatesLinks() throws Exception {
        var secret = Files.writeString(dir.resolve("secret"), "SECRET OF THE HOST");
        layers.build("hostile", rootfs -> {
            Files.createDirectories(rootfs.resolve("etc/ssl/certs"));
            Files.createSymbolicLink(rootfs.resolve("etc/ssl/certs/ca-certificates.crt"), secret);
        });
        var layer = new NodeLayer(layers, "10.9.0.1", certificate("one.pem", "/CN=one"), null);
        assertThat(layers.require(layer.require(List.of("hostile"))).resolve("etc/ssl/certs/ca-certificates.crt"))
                .content()
                .startsWith("-----BEGIN CERTIFICATE")
                .doesNotContain("SECRET");
    }

    @Test
    void bringsTheGatewaysCommandAndHidesNoneOfTheTemplates() throws Exception {
        layers.build("linked", rootfs -> {
            Files.createDirectories(rootfs.resolve("usr/local"));
            Files.createSymbolicLink(rootfs.resolve("usr/local/bin"), Path.of("../bin"));
        });
        var layer = new NodeLayer(layers, "10.9.0.1", certificate("one.pem", "/CN=one"), null);
        var usual = layers.require(layer.require(List.of("template")));
        assertThat(Files.readSymbolicLink(usual.resolve("usr/local/bin/mcp-gateway")))
                .isEqualTo(Path.of("/run/.cay-guest"));
        var linked = layers.require(layer.require(List.of("linked")));
        assertThat(linked.resolve("usr/local/bin")).doesNotExist();
        assertThat(Files.readSymbolicLink(linked.resolve("usr/bin/mcp-gateway")))
                .isEqualTo(Path.of("/run/.cay-guest"));
    }

    @Test
    void extendsWhatTheLayersShowTogether() throws Exception {
        layers.build("step", rootfs -> {
            Files.createDirectories(rootfs.resolve("etc/pki/certs"));
            Files.setPosixFilePermissions(rootfs.resolve("etc/pki"), PosixFilePermissions.fromString("rwx--x--x"));
            Files.writeString(rootfs.resolve("etc/pki/certs/ca-certificates.crt"), "THE STEP'S ROOTS");
            Files.createDirectories(rootfs.resolve("etc/ssl"));
            Files.createSymbolicLink(rootfs.resolve("etc/ssl/certs"), Path.of("../pki/certs"));
            Files.writeString(rootfs.resolve("etc/hosts"), "127.0.0.1 localhost\n192.0.2.7 db\n");
        });
        var authority = certificate("one.pem", "/CN=one");
        var layer = new NodeLayer(layers, "10.9.0.1", authority, null);
        var rootfs = layers.require(layer.require(List.of("step", "template")));
        assertThat(rootfs.resolve("etc/hosts"))
                .as("a step's own list of hosts is not hidden")
                .doesNotExist();
        assertThat(rootfs.resolve("etc/ssl/certs"))
                .as("the link stays what it is")
                .doesNotExist();
        assertThat(rootfs.resolve("etc/pki/certs/ca-certificates.crt"))
                .content()
                .startsWith("THE STEP'S ROOTS\n")
                .contains(Files.readString(authority));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(rootfs.resolve("etc/pki"))))
                .isEqualTo("rwx--x--x");
    }

    private Path certificate(String name, String subject) {
        var file = dir.resolve(name);
        Programs.ofHost()
                .require(
                        LIMIT,
                        "openssl",
                        "req",
                        "-x509",
                        "-utf8",
                        "-newkey",
                        "ec",
                        "-pkeyopt",
                        "ec_paramgen_curve:P-256",
                        "-nodes",
                        "-keyout",
                        dir.resolve("key").toString(),
                        "-out",
                        file.toString(),
                        "-days",
                        "2",
                        "-subj",
                        subject);
        return file;
    }

    private static String opensslHash(Path file) throws IOException {
        return Programs.ofHost()
                .require(LIMIT, "openssl", "x509", "-noout", "-subject_hash", "-in", file.toString())
                .strip();
    }
}
