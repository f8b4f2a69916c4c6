package dev.cay.node.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.life.TaskGroup;
import dev.cay.node.host.Programs;
import dev.cay.testing.Fast;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class LayerStoreTest {
    @TempDir
    private Path cache;

    @Test
    void buildsALayerOnce() throws Exception {
        var built = new AtomicInteger();
        var layers = new LayerStore(cache);
        // Two stores on one directory are what two daemons are, but for the process.
        try (var tasks = new TaskGroup()) {
            for (int i = 0; i < 8; i++) {
                tasks.run(() -> layers.build("one", rootfs -> {
                    built.incrementAndGet();
                    Files.writeString(rootfs.resolve("file"), "x".repeat(10_000));
                }));
            }
            tasks.join(Duration.ofMinutes(1));
        }
        assertThat(built).hasValue(1);
        assertThat(layers.require("one").resolve("file")).hasSize(10_000);
        assertThat(layers.size("one")).isGreaterThanOrEqualTo(10_000);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(cache.resolve("layers"))))
                .isEqualTo("rwx------");
    }

    @Test
    void waitsForAnotherProcessThatBuildsTheSame() throws Exception {
        var layers = new LayerStore(cache);
        Files.createDirectories(cache.resolve("layers"));
        var lock = cache.resolve("layers/.one.lock");
        var other = new ProcessBuilder(List.of(
                        "python3",
                        "-c",
                        "import fcntl,sys,os\nf=open(sys.argv[1],'w')\nfcntl.lockf(f,fcntl.LOCK_EX)\nprint('held',flush=True)\nsys.stdin.readline()\nos.makedirs(sys.argv[2])\n",
                        lock.toString(),
                        layers.path("one").toString()))
                .start();
        try (var tasks = new TaskGroup()) {
            assertThat(other.inputReader().readLine()).isEqualTo("held");
            Files.writeString(cache.resolve("layers/.one.progress"), "0.430\tinstalling\tgcc");
            var heard = new CountDownLatch(1);
            BuildProgress progress = (step, detail, fraction) -> {
                if ((step + detail + fraction).equals("installinggcc0.43")) {
                    heard.countDown();
                }
            };
            tasks.run(() -> layers.build("one", progress, (_, _) -> {
                throw new IllegalStateException("the other one built it");
            }));
            assertThat(heard.await(1, TimeUnit.MINUTES)).as("how far it is").isTrue();
            try (var in = other.outputWriter()) {
                in.write("go on\n");
            }
            tasks.join(Duration.ofMinutes(1));
        } finally {
            other.destroyForcibly();
        }
        assertThat(layers.has("one")).isTrue();
    }

    /// `mmdebstrap` mounts `/proc` and others below the tree it makes, and a kill leaves them there.
    @Test
    @NeedsRoot
    void buildsAgainAfterAKillThatLeftSomethingMounted() throws Exception {
        var unfinished = Files.createDirectories(cache.resolve("layers/.unfinished-one.123/rootfs/proc"));
        run("mount", "-t", "tmpfs", "cay-test", unfinished.toString());
        try {
            var layers = new LayerStore(cache);
            layers.build("one", rootfs -> Files.writeString(rootfs.resolve("file"), "text"));
            assertThat(layers.require("one").resolve("file")).hasContent("text");
            assertThat(cache.resolve("layers/.unfinished-one.123")).doesNotExist();
        } finally {
            new ProcessBuilder("umount", "--lazy", "--quiet", unfinished.toString())
                    .start()
                    .waitFor();
        }
    }

    private static void run(String... command) throws Exception {
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
    }

    @Test
    void leavesNothingOfABuildThatFails() throws Exception {
        var layers = new LayerStore(cache);
        assertThatThrownBy(() -> layers.build("one", rootfs -> {
                    Files.writeString(rootfs.resolve("half"), "x");
                    throw new IllegalStateException("no network");
                }))
                .isInstanceOf(CayException.class);
        assertThat(layers.has("one")).isFalse();
        try (var left = Files.list(cache.resolve("layers"))) {
            assertThat(left.map(path -> path.getFileName().toString())).containsExactly(".one.lock");
        }
    }

    @Test
    @NeedsRoot
    void saysThatTheDiskIsFullWhoeverNoticesIt() throws Exception {
        run("mount", "-t", "tmpfs", "-o", "size=64k", "cay-test", cache.toString());
        try {
            var layers = new LayerStore(cache);
            assertThatThrownBy(() -> layers.build(
                            "written", rootfs -> Files.writeString(rootfs.resolve("file"), "x".repeat(100_000))))
                    .isInstanceOfSatisfying(
                            CayException.class, e -> assertThat(e.kind()).isEqualTo(ErrorKind.UNAVAILABLE))
                    .hasMessageContaining("no room for another layer");
            assertThatThrownBy(() -> layers.build(
                            "copied",
                            rootfs -> Programs.ofHost()
                                    .require(Duration.ofSeconds(20), "cp", "/bin/bash", rootfs.toString())))
                    .hasMessageContaining("no room for another layer");
            try (var left = Files.list(cache.resolve("layers"))) {
                assertThat(left.map(path -> path.getFileName().toString()))
                        .containsExactlyInAnyOrder(".copied.lock", ".written.lock");
            }
        } finally {
            run("umount", cache.toString());
        }
    }

    @Test
    void deletesLayersByTheBeginOfTheirKeys() throws Exception {
        var layers = new LayerStore(cache);
        for (String key : List.of("some-one", "some-two", "other-some-three")) {
            layers.build(key, _ -> {});
        }
        Files.createDirectories(cache.resolve("layers/.unfinished-some-four.1/rootfs"));

        layers.deleteAll("some-");

        assertThat(List.of("some-one", "some-two", "other-some-three"))
                .filteredOn(layers::has)
                .containsExactly("other-some-three");
        assertThat(cache.resolve("layers/.unfinished-some-four.1")).doesNotExist();
    }

    @Test
    void removesWhatACrashedBuildLeft() throws Exception {
        var leftover = Files.createDirectories(cache.resolve("layers/.unfinished-one.123/rootfs"));
        var others = Files.createDirectories(cache.resolve("layers/.unfinished-two.123/rootfs"));
        new LayerStore(cache).build("one", _ -> {});
        assertThat(leftover).doesNotExist();
        assertThat(others).exists();
    }

    @Test
    void refusesKeysThatArePaths() {
        assertThatThrownBy(() -> new LayerStore(cache).path("../etc")).isInstanceOf(CayException.class);
        assertThatThrownBy(() -> new LayerStore(cache).require("none")).isInstanceOf(CayException.class);
    }
}
