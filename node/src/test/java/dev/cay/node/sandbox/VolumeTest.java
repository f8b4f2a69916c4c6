package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.process.DoomedProgram;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.VolumeContent;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Volumes in real sandboxes: shared, limited, kept by the next daemon, and deleted.
@NeedsRoot
final class VolumeTest extends VolumeLab {
    /// How long a busy machine takes to write gigabytes.
    private static final Duration A_FULL_DISK = Duration.ofMinutes(8);

    private void restart() throws Exception {
        node.close();
        node = new TestNode(place);
    }

    @Test
    void twoSandboxesWriteAtOnceAndNothingIsLost() throws Exception {
        var shared = volume(64);
        node.keepers.create(mounting("one", at(shared, "/data")));
        node.keepers.create(mounting("two", at(shared, "/srv/deep/er")));
        try (var first =
                        node.start("one", "for i in $(seq 500); do echo one-$i >> /data/log; done; touch /data/done1");
                var second = node.start(
                        "two",
                        "for i in $(seq 500); do echo two-$i >> /srv/deep/er/log; done; touch /srv/deep/er/done2")) {
            assertThat(List.of(first, second)).hasSize(2);
            Await.until(
                    "both writers end",
                    () -> Files.exists(place(shared).resolve("done1"))
                            && Files.exists(place(shared).resolve("done2")));
        }
        var lines = text(shared, "/log").lines().toList();
        assertThat(lines).hasSize(1000).doesNotHaveDuplicates();
        // As the sandboxes count: root there is 0 for all.
        assertThat(volumes().content(shared, OWNER).stat("/log").uid()).isZero();
        assertThat(node.run("two", "stat -c %u:%g /srv/deep/er/log")).isEqualTo("0:0");
        assertThat(node.run("one", "su user -c 'echo mine > /data/mine' && stat -c %U /data/mine"))
                .isEqualTo("user");
        assertThat(node.run("two", "stat -c %U /srv/deep/er/mine")).isEqualTo("user");
    }

    @Test
    void aVolumeHoldsNoMoreThanItsSizeAndTheSandboxGoesOn() throws Exception {
        var small = volume(8);
        node.keepers.create(mounting("one", at(small, "/data")));
        String said = node.run("one", "head -c 20M /dev/urandom > /data/large; sync -f /data; echo ended");
        assertThat(said).contains("quota exceeded").endsWith("ended");
        assertThat(node.run("one", "echo still > /elsewhere && cat /elsewhere")).isEqualTo("still");
        assertKind(
                ErrorKind.DISK_FULL,
                "not enough disk space",
                () -> volumes()
                        .content(small, OWNER)
                        .write("/more", USUAL, false, new ByteArrayInputStream(new byte[8 << 20])));
        assertKind(
                ErrorKind.NOT_FOUND,
                "/more",
                () -> volumes().content(small, OWNER).stat("/more"));
        volumes().content(small, OWNER).remove("/large");
        assertThat(node.run("one", "sync -f /data; echo fits > /data/small && cat /data/small"))
                .isEqualTo("fits");
    }

    @Test
    @Timeout(1200)
    void onAFullMachineWritersFailAndNothingThatWasWrittenIsLost() throws Exception {
        var shared = volume(4096);
        node.keepers.create(mounting("one", at(shared, "/data")));
        node.keepers.create(mounting("two", at(shared, "/data")));
        for (String id : List.of("one", "two")) {
            node.run(id, "head -c 4M /dev/urandom > /data/kept-%s; sync /data/kept-%s".formatted(id, id));
        }
        String before = node.run("one", "sha256sum /data/kept-*");
        String fill =
                "dd if=/dev/zero of=/data/large-%s bs=1M count=4096 conv=fsync 2> /dev/shm/said; echo $? > /dev/shm/ended";
        try (var first = node.start("one", fill.formatted("one"));
                var second = node.start("two", fill.formatted("two"))) {
            assertThat(List.of(first, second)).hasSize(2);
            for (String id : List.of("one", "two")) {
                Await.until(
                        "the writer fails on the full disk",
                        A_FULL_DISK,
                        () -> !node.run(id, "cat /dev/shm/ended 2>/dev/null || true")
                                .isEmpty());
                assertThat(node.run(id, "cat /dev/shm/ended /dev/shm/said"))
                        .startsWith("1")
                        .containsAnyOf("No space left on device", "Disk quota exceeded");
            }
        }
        assertThat(node.run("two", "sha256sum /data/kept-*")).isEqualTo(before);
        restart();
        for (String id : List.of("one", "two")) {
            assertThat(node.run(id, "echo runs")).isEqualTo("runs");
        }
        assertThat(node.run("two", "rm /data/large-*; echo gone")).isEqualTo("gone");
        // Deleted space is free when btrfs has written that down, and the guard has looked again.
        Await.until(
                "a write works after space was freed",
                () -> node.run("one", "echo again > /data/after && sync /data/after && cat /data/after 2>&1; true")
                        .equals("again"));
        assertThat(node.run("one", "sha256sum /data/kept-*")).isEqualTo(before);
    }

    @Test
    void aVolumeThatASandboxHasIsNotDeleted() throws Exception {
        var shared = volume(8);
        node.keepers.create(mounting("one", at(shared, "/data")));
        assertKind(ErrorKind.CONFLICT, "mounted", () -> volumes().delete(shared));
        pauseForGood();
        assertKind(ErrorKind.CONFLICT, "mounted", () -> volumes().delete(shared));
        node.keepers.kill(ONE);
        volumes().delete(shared);
        assertThat(place(shared)).doesNotExist();
        assertThat(node.host.pool().directory("volumes")).isEmptyDirectory();
    }

    @Test
    void theNextDaemonFindsVolumesAndTheSandboxesThatHaveThem() throws Exception {
        var shared = volume(8);
        node.keepers.create(mounting("one", at(shared, "/data")));
        node.keepers.create(mounting("two", at(shared, "/data")));
        node.run("one", "echo text > /data/file");
        node.keepers.pause(ONE, Keep.MEMORY);

        restart();

        assertThat(volumes().list()).containsExactly(shared);
        assertKind(ErrorKind.CONFLICT, "mounted", () -> volumes().delete(shared));
        assertThat(node.run("two", "cat /data/file; echo more >> /data/file")).isEqualTo("text");
        node.keepers.resume(ONE, true);
        assertThat(node.run("one", "cat /data/file")).isEqualTo("text\nmore");
        node.keepers.tidy();
        assertThat(text(shared, "/file")).isEqualTo("text\nmore\n");
    }

    @Test
    void aSpareSandboxIsNotGivenAwayWithVolumes() throws Exception {
        var shared = volume(8);
        var id = node.keepers.reserve(TestNode.spec("kind").kind());
        var spec = mounting("kind", at(shared, "/data"));
        var wanted = new SandboxSpec(
                id,
                spec.templateId(),
                spec.layers(),
                spec.resources(),
                spec.environment(),
                null,
                "root",
                "/tmp",
                spec.egress(),
                null,
                null,
                spec.volumes());

        node.keepers.create(wanted);

        assertThat(node.run(id.value(), "echo text > /data/file; grep -c ' /data ' /proc/mounts"))
                .isEqualTo("1");
        assertThat(text(shared, "/file")).isEqualTo("text\n");
    }

    @Test
    void anUnknownVolumeIsRefusedAndNothingIsLeft() throws Exception {
        assertThatThrownBy(() -> node.keepers.create(mounting("one", at(VolumeId.random(), "/data"))))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("is not on this machine");
        assertThat(node.keepers.find(ONE)).isEmpty();
    }

    @Test
    void whatAClientSendsOnlyInPartIsNotKept() {
        var shared = volume(8);
        VolumeContent content = volumes().content(shared, OWNER);
        var broken = new InputStream() {
            private int left = 100_000;

            @Override
            public int read() throws IOException {
                if (left-- <= 0) {
                    throw new IOException("the client is gone");
                }
                return 'x';
            }
        };
        assertThatThrownBy(() -> content.write("/part", USUAL, false, broken)).isInstanceOf(IOException.class);
        assertKind(ErrorKind.NOT_FOUND, "/part", () -> content.stat("/part"));
    }

    @Test
    void aDeletionThatAKillCutIsCompletedByTheNextOne() throws Exception {
        var cut = volume(8);
        var other = volume(8);
        put(cut, "/file", "text");
        put(other, "/file", "other");
        var size = place(cut).resolveSibling(cut.value() + ".size");
        node.close();
        var daemon = DoomedProgram.start(
                DoomedPause.class,
                place.directory().toString(),
                place.instance(),
                "delete-volume",
                cut.value(),
                "volume-emptied");
        assertThat(daemon.waitFor(2, TimeUnit.MINUTES)).isTrue();
        assertThat(daemon.exitValue()).isEqualTo(128 + 9);
        node = new TestNode(place);
        assertThat(size).as("what was cut").exists();
        assertThat(volumes().list()).containsExactly(other);
        assertKind(ErrorKind.NOT_FOUND, "is not on this machine", () -> put(cut, "/file", "again"));
        volumes().delete(cut);
        assertThat(size).doesNotExist();
        assertThat(text(other, "/file")).isEqualTo("other");
        assertThat(volumes().used()).containsOnlyKeys(other);
    }
}
