package dev.cay.node.image.oci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.host.Programs;
import dev.cay.node.image.LayerStore;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.OwnRegistry;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Images that Cay writes, read again. Needs root, as layers have owners, devices and attributes.
@NeedsRoot
final class ImageArchiveTest {
    private static final Map<String, Object> CONFIG = Map.of("User", "web", "Env", List.of("A=1"));

    @TempDir
    private Path directory;

    private Path base;
    private Path top;

    @BeforeEach
    void makeLayers() throws IOException {
        base = directory.resolve("layers/base");
        top = directory.resolve("layers/top");
        sh("""
                mkdir -p base/etc base/opaque base/bin base/%1$s top/opaque top/bin
                echo one > base/etc/kept; echo two > base/etc/gone; echo old > base/opaque/old
                ln base/etc/kept base/etc/again; ln -s ../etc/kept base/bin/link; mkfifo base/bin/fifo
                echo deep > base/%1$s/file
                cp /bin/true base/bin/capable; setcap cap_net_raw+ep base/bin/capable
                chown 1000:1001 base/etc/kept; chmod 4755 base/bin/capable; touch -d @1000000000 base/etc/kept
                mkdir -p top/etc; mknod top/etc/gone c 0 0
                echo new > top/opaque/new
                python3 -I -c 'import os
                os.setxattr("top/opaque", "trusted.overlay.opaque", b"y")
                os.setxattr("top/opaque/new", "trusted.overlay.origin", b"x")
                os.setxattr("top/opaque/new", "user.note", bytes(range(256)))'
                """.formatted("a-long-name-".repeat(8) + "/" + "and-another-".repeat(8)));
    }

    @Test
    void isReadAgainAsItWas() throws Exception {
        var archive = write("app:v1");

        try (var images = images("cache")) {
            var loaded = images.load(archive, null, (_, _, _) -> {});

            assertThat(loaded.config().user()).isEqualTo("web");
            assertThat(loaded.config().environment()).containsEntry("A", "1");
            var layers = new LayerStore(directory.resolve("cache"));
            assertThat(loaded.layerKeys()).hasSize(2);
            assertThat(tree(layers.require(loaded.layerKeys().getLast()))).isEqualTo(tree(base));
            sh("python3 -I -c 'import os; os.removexattr(\"top/opaque/new\", \"trusted.overlay.origin\")'");
            assertThat(tree(layers.require(loaded.layerKeys().getFirst()))).isEqualTo(tree(top));
            assertThat(images.load(archive, "app:v1", (_, _, _) -> {}).digest()).isEqualTo(loaded.digest());
        }
        assertThat(directory.resolve("cache/images/staging")).isEmptyDirectory();
    }

    @Test
    void equalLayersMakeEqualArchives() throws Exception {
        assertThat(write("app:v1")).hasSameBinaryContentAs(write("app:v1"));
    }

    @Test
    void isGivenUpByAnInterruptedThread() throws Exception {
        var archive =
                new ImageArchive(OutputStream.nullOutputStream(), Files.createDirectory(directory.resolve("staging")));
        Thread.currentThread().interrupt();
        try {
            assertThatThrownBy(() -> archive.add(base)).isInstanceOf(InterruptedIOException.class);
        } finally {
            Thread.interrupted();
        }
    }

    @Test
    void refusesNamesThatMeanSomethingElseInImages() throws Exception {
        sh("echo x > base/etc/.wh.kept");
        assertThatThrownBy(() -> write("app:v1"))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("etc/.wh.kept");
    }

    @Test
    void isPushedToARegistryAndPulledFromIt() throws Exception {
        var archive = write("app:v1");
        try (var registry = OwnRegistry.start(directory.resolve("registry"), true);
                var here = images("here", registry.host());
                var there = images("there", registry.host())) {
            var to = ImageReference.parse(registry.host() + "/team/app:v2");
            var tester = new RegistryCredentials.Password(OwnRegistry.USER, OwnRegistry.PASSWORD);

            var digest = here.push(archive, to, tester, (_, _, _) -> {});

            var pulled = there.pull(to, tester, (_, _, _) -> {});
            assertThat(pulled.digest()).isEqualTo(digest);
            assertThat(pulled.config().user()).isEqualTo("web");
            var layers = new LayerStore(directory.resolve("there"));
            assertThat(tree(layers.require(pulled.layerKeys().getLast()))).isEqualTo(tree(base));
            assertThat(here.push(archive, to, tester, (_, _, _) -> {}))
                    .as("once more, when the registry has all")
                    .isEqualTo(digest);

            for (var wrong : List.of(RegistryCredentials.none(), new RegistryCredentials.Password("tester", "wrong"))) {
                assertThatThrownBy(() -> here.push(archive, to, wrong, (_, _, _) -> {}))
                        .isInstanceOf(CayException.class)
                        .hasMessageContaining("credentials");
            }
        }
    }

    private Path write(String name) throws IOException {
        var file = Files.createTempFile(directory, "image", ".tar");
        try (var images = images("writing");
                OutputStream out = Files.newOutputStream(file)) {
            images.write(List.of(base, top), CONFIG, name, out);
        }
        return file;
    }

    private Images images(String cache, String... plainHttp) {
        var settings = RegistrySettings.DEFAULT.withPlainHttp(Set.of(plainHttp));
        var store = new LayerStore(directory.resolve(cache));
        return new Images(
                store,
                directory.resolve(cache),
                settings,
                LayerLimits.DEFAULT,
                () -> Images.client(settings).build());
    }

    /// Names, kinds, modes, owners, times, links, contents and attributes.
    private String tree(Path layer) {
        return Programs.ofHost().require(Duration.ofSeconds(30), "sh", "-c", """
                cd "$0"
                find . -type c -printf '%p %y\\n' | sort
                find . -mindepth 1 ! -type d ! -type c -printf '%p %y %m %U:%G %T@ %n %l\\n' | sed 's/\\.[0-9]* / /' | sort
                find . -mindepth 1 -type d -printf '%p %m %U:%G\\n' | sort
                find . -type f -exec sha256sum {} + | sort
                find . -print0 | sort -z | xargs -0 python3 -I -c 'import os, sys
                for path in sys.argv[1:]:
                    for name in sorted(os.listxattr(path, follow_symlinks=False)):
                        print(path, name, os.getxattr(path, name, follow_symlinks=False).hex())'
                """, layer.toString());
    }

    private void sh(String script) throws IOException {
        Files.createDirectories(directory.resolve("layers"));
        Programs.ofHost()
                .require(
                        Duration.ofSeconds(30),
                        "sh",
                        "-ec",
                        "cd \"$0\"\n" + script,
                        directory.resolve("layers").toString());
    }
}
