package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.Programs;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.VolumeMount;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Volumes where the pool is on ext4: plain directories, without a limit.
@NeedsRoot
@Timeout(180)
class VolumeWithoutBtrfsTest {
    private static final SandboxId ONE = new SandboxId("one");

    private TestNode.Place place;
    private TestNode node;

    @BeforeEach
    void open() throws Exception {
        place = TestNode.Place.make();
        var pool = Files.createDirectories(place.directory().resolve("state/pool"));
        var file = place.directory().resolve("ext4");
        run("truncate", "-s", "1G", file.toString());
        run("mkfs.ext4", "-q", file.toString());
        run("mount", "-o", "loop", file.toString(), pool.toString());
        node = new TestNode(place);
    }

    private static void run(String... command) {
        Programs.ofHost().require(TestNode.LIMIT, command);
    }

    @AfterEach
    void close() throws Exception {
        var pool = place.directory().resolve("state/pool").toString();
        try (var _ = place;
                AutoCloseable _ = () -> run("umount", pool);
                var _ = node) {
            // Nothing to do but to close them, whichever there are.
        }
    }

    /// Here the pool itself would let them: what counts is the mount inside.
    @Test
    void setUidProgramsAndDevicesOfAVolumeAreOfNoUse() throws Exception {
        var volume = VolumeId.random();
        node.node.disk().volumes().create(volume, 1 << 20);
        node.keepers.create(TestNode.spec("one").withVolumes(List.of(new VolumeMount(volume, "/data", false))));
        var device = node.host.pool().volumes().place(volume).resolve("zero");
        run("mknod", "-m", "666", device.toString(), "c", "1", "5");
        try (var in = Files.newInputStream(device)) {
            assertThat(in.readNBytes(3))
                    .as("the control: the same file on the host")
                    .hasSize(3);
        }
        assertThat(node.run("one", "head -c 3 /data/zero 2>&1 | head -c 200")).contains("Permission denied");
        String copy = "cp /usr/bin/id %s/id; chmod 4755 %s/id; su user -c '%s/id -u'";
        assertThat(node.run("one", copy.formatted("/data", "/data", "/data"))).isEqualTo("1000");
        assertThat(node.run("one", copy.formatted("/srv", "/srv", "/srv")))
                .as("the control: the same file elsewhere")
                .isEqualTo("0");
    }

    @Test
    void aVolumeIsSharedPausedAndKeptAndHasNoLimit() throws Exception {
        assertThat(node.host.pool().limited()).isFalse();
        var volume = VolumeId.random();
        var volumes = node.node.disk().volumes();
        volumes.create(volume, 1 << 20);
        var mounts = List.of(new VolumeMount(volume, "/data", false));
        node.keepers.create(TestNode.spec("one").withVolumes(mounts));
        node.keepers.create(TestNode.spec("two").withVolumes(mounts));
        assertThat(node.run(
                        "one", "head -c 3M /dev/zero > /data/large && echo text > /data/file; stat -c %s /data/large"))
                .as("more than its size")
                .isEqualTo("3145728");
        assertThat(node.run("two", "cat /data/file; su user -c 'touch /data/of-user'; stat -c %u:%g /data/of-user"))
                .isEqualTo("text\n1000:1000");
        assertThat(node.run("one", "grep ' /data ' /proc/mounts")).contains("nosuid", "nodev");

        node.keepers.pause(ONE, Keep.MEMORY);
        node.run("two", "echo more >> /data/file");
        node.close();
        node = new TestNode(place);
        node.keepers.resume(ONE, true);
        assertThat(node.run("one", "cat /data/file")).isEqualTo("text\nmore");

        node.keepers.killAll();
        assertThat(node.keepers.list()).isEmpty();
        node.node.disk().volumes().delete(volume);
        assertThat(node.node.disk().volumes().list()).isEmpty();
    }
}
