package dev.cay.node.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.host.Programs;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Trees as the root of a sandbox can make them, on a real btrfs.
@NeedsRoot
final class TreeStreamTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /// All kinds of files, gaps in the inode numbers, children that are older than their directories, and directories
    /// that are deeper than a path is long.
    private static final String MAKE = """
            set -e
            mkdir a b late; echo hello > a/file; ln a/file b/hard; ln -s /etc/passwd link; ln -s ../../.. up
            mknod whiteout c 0 0; mknod null c 1 3; mkfifo fifo
            truncate -s 1T sparse; printf x | dd of=sparse bs=1 seek=99999999999 conv=notrunc status=none
            printf q > "$(printf 'new\\nline \\377')"; printf q > '..hidden'; printf q > '*'
            for i in $(seq 1 60); do echo $i > t$i; done; for i in $(seq 1 2 60); do rm t$i; done
            mv t2 late; mv b late/b; cp /bin/true program; chown 100:200 program; chmod 4755 program
            chown 165536:4000000000 a/file
            (for i in $(seq 1 120); do d=dddddddddddddddddddddddddddddddddddddddd; mkdir $d; cd -P $d; done; echo deep > bottom)
            touch -d '1999-01-02 03:04:05.123456789' a late; touch -h -d '1969-01-02 03:04:05.5' link
            """;

    @TempDir
    private Path directory = Path.of("unset");

    private Path pool = Path.of("unset");

    @SuppressWarnings("NullAway.Init")
    private Disks disks;

    @SuppressWarnings("NullAway.Init")
    private TreeStream trees;

    @BeforeEach
    void mount() throws IOException {
        var guest = GuestProgram.install(directory.resolve("guest"));
        trees = new TreeStream(guest);
        disks = new BtrfsDisks(guest);
        pool = Files.createDirectory(directory.resolve("pool"));
        Path file = directory.resolve("file");
        run("truncate", "-s", "300M", file.toString());
        run("mkfs.btrfs", "-q", file.toString());
        run("mount", "-o", "loop,noatime", file.toString(), pool.toString());
        run("btrfs", "quota", "enable", pool.toString());
    }

    @AfterEach
    void unmount() {
        run("umount", pool.toString());
    }

    private static void run(String... command) {
        Programs.ofHost().require(LIMIT, command);
    }

    private Path source() throws IOException {
        Path disk = pool.resolve("one");
        disks.create(disk, 200L << 20);
        Path upper = disk.resolve("upper");
        Programs.ofHost().require(LIMIT, "", List.of("bash", "-c", "cd %s; %s".formatted(upper, MAKE)));
        Files.setAttribute(upper.resolve("a/file"), "user:note", ByteBuffer.wrap(new byte[] {0, 1, 2}));
        run("python3", "-c", """
                import os
                os.setxattr('%1$s/a', 'trusted.overlay.opaque', b'y')
                os.setxattr('%1$s/link', 'trusted.x', b'z', follow_symlinks=False)
                """.formatted(upper));
        return disk;
    }

    private byte[] packed(Path tree) throws IOException {
        var bytes = new ByteArrayOutputStream();
        trees.pack(tree, bytes);
        return bytes.toByteArray();
    }

    /// A packed tree has all there is of it, inode numbers and times too, so that equal bytes are equal trees.
    @Test
    void aTreeIsTheSameInAnotherDisk() throws IOException {
        byte[] bytes = packed(source());
        assertThat(bytes).hasSizeLessThan(10 << 20);
        Path other = pool.resolve("other");
        disks.createEmpty(other, 200L << 20);

        assertThat(trees.unpack(other, true, new ByteArrayInputStream(bytes))).isTrue();

        assertThat(packed(other)).isEqualTo(bytes);
        assertThat(other.resolve("upper/late/b/hard")).hasContent("hello\n");
        assertThat(Files.getAttribute(other.resolve("upper/whiteout"), "unix:rdev"))
                .isEqualTo(0L);
        assertThat(Files.getAttribute(other.resolve("upper/a/file"), "unix:nlink"))
                .isEqualTo(2);
        assertThat(Files.getAttribute(other.resolve("upper/a/file"), "unix:ino"))
                .isEqualTo(Files.getAttribute(pool.resolve("one/upper/a/file"), "unix:ino"));
    }

    @Test
    void onAnotherFileSystemAllIsKeptButTheInodeNumbers() throws IOException {
        byte[] bytes = packed(source());
        Path other = Files.createDirectory(directory.resolve("plain"));
        assertThat(trees.unpack(other, false, new ByteArrayInputStream(bytes))).isFalse();
        Path upper = other.resolve("upper");
        assertThat(Files.size(upper.resolve("sparse"))).isEqualTo(1L << 40);
        assertThat(Files.getAttribute(upper.resolve("program"), "unix:mode")).isEqualTo(0104755);
        assertThat(Files.getAttribute(upper.resolve("a/file"), "unix:uid")).isEqualTo(165536);
        assertThat(Files.getLastModifiedTime(upper.resolve("a")).toString())
                .isEqualTo("1999-01-02T03:04:05.123456789Z");
        assertThat(Files.getLastModifiedTime(upper.resolve("link"), LinkOption.NOFOLLOW_LINKS)
                        .toString())
                .isEqualTo("1969-01-02T03:04:05.5Z");
        assertThat(directory.resolve("plain.parts")).doesNotExist();
        run("rm", "-rf", other.toString());
    }

    @Test
    void aCutTreeIsRefused() throws IOException {
        byte[] bytes = packed(source());
        Path other = pool.resolve("other");
        disks.createEmpty(other, 200L << 20);
        byte[] cut = Arrays.copyOf(bytes, bytes.length - 20);
        assertThatThrownBy(() -> trees.unpack(other, true, new ByteArrayInputStream(cut)))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("cut");
    }

    /// What a stream says is not believed: names are single names, and links among the inodes lead nowhere.
    @Test
    void noNameLeadsOutOfTheTree() throws IOException {
        Path outside = Files.createDirectory(directory.resolve("outside"));
        for (String name : new String[] {"..", "../outside/made", "/tmp/made", ".", ""}) {
            Path place = Files.createDirectory(directory.resolve("place" + System.nanoTime()));
            byte[] stream =
                    new Hostile().inode(300, 0100644, "").name(300, 1, name).end();
            assertThatThrownBy(() -> trees.unpack(place, false, new ByteArrayInputStream(stream)))
                    .as("name %s", name)
                    .isInstanceOf(CayException.class);
        }
        Path place = Files.createDirectory(directory.resolve("linked"));
        byte[] stream = new Hostile()
                .inode(300, 0120777, outside.toString())
                .inode(301, 0100644, "")
                .name(301, 300, "made")
                .end();
        assertThatThrownBy(() -> trees.unpack(place, false, new ByteArrayInputStream(stream)))
                .isInstanceOf(CayException.class);
        assertThat(outside).isEmptyDirectory();
    }

    /// The root of a volume is a sandbox's: no name there may stand in the way of the names that inodes have meanwhile.
    @Test
    void noNameOfASandboxPreventsARestore() throws IOException {
        Path volume = pool.resolve("volume");
        disks.createEmpty(volume, 100L << 20);
        Path own = Files.writeString(volume.resolve("own"), "hello");
        Path other = Files.writeString(volume.resolve("other"), "there");
        for (Path file : List.of(own, other)) {
            Files.createLink(volume.resolve(".cay-" + Files.getAttribute(file, "unix:ino")), other);
        }
        byte[] bytes = packed(volume);
        Path restored = pool.resolve("restored");
        disks.createEmpty(restored, 100L << 20);
        assertThat(trees.unpack(restored, true, new ByteArrayInputStream(bytes)))
                .isTrue();
        assertThat(packed(restored)).isEqualTo(bytes);
    }

    @Test
    void aDeviceOfTheHostIsRefused() throws IOException {
        for (Device forged :
                List.of(new Device(0060666, 8, 0), new Device(0020666, 1, 1), new Device(0020666, 10, 200))) {
            Path place = Files.createDirectory(directory.resolve("place" + System.nanoTime()));
            byte[] stream =
                    new Hostile().device(300, forged).name(300, 1, "made").end();
            assertThatThrownBy(() -> trees.unpack(place, false, new ByteArrayInputStream(stream)))
                    .isInstanceOf(CayException.class)
                    .hasMessageContaining("the device %d:%d".formatted(forged.major(), forged.minor()));
            assertThat(place).isEmptyDirectory();
        }
    }

    private record Device(int mode, int major, int minor) {}

    @Test
    void aFullDiskIsNamed() throws IOException {
        byte[] bytes = packed(source());
        Path other = pool.resolve("other");
        disks.createEmpty(other, 100_000);
        assertThatThrownBy(() -> trees.unpack(other, true, new ByteArrayInputStream(bytes)))
                .isInstanceOf(CayException.class)
                .hasMessageMatching("(?s).*(Disk quota exceeded|No space left).*");
    }

    /// A stream that no Cay wrote; its root has the number 1.
    private static final class Hostile {
        private final ByteBuffer bytes = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);

        private Hostile() {
            bytes.put("cay-tree-1\0".getBytes(StandardCharsets.US_ASCII)).putLong(1);
        }

        private Hostile device(long number, Device device) {
            head(number, device.mode(), (long) device.major() << 8 | device.minor());
            return this;
        }

        private void head(long number, int mode, long device) {
            bytes.put((byte) 'i').putLong(number).putInt(mode).putInt(0).putInt(0);
            bytes.putLong(device)
                    .putLong(0)
                    .putLong(0)
                    .putInt(0)
                    .putLong(0)
                    .putInt(0)
                    .putShort((short) 0);
        }

        private Hostile inode(long number, int mode, String target) {
            head(number, mode, 0);
            if ((mode & 0170000) == 0120000) {
                bytes.putInt(target.length()).put(target.getBytes(StandardCharsets.UTF_8));
            } else {
                bytes.putLong(-1);
            }
            return this;
        }

        private Hostile name(long number, long parent, String name) {
            byte[] text = name.getBytes(StandardCharsets.UTF_8);
            bytes.put((byte) 'n').putLong(number).putLong(parent).put((byte) 1);
            bytes.putShort((short) text.length).put(text);
            return this;
        }

        private byte[] end() {
            bytes.put((byte) 'r').putInt(040755).putInt(0).putInt(0);
            bytes.putLong(0).putInt(0).putLong(0).putInt(0).putShort((short) 0);
            return Arrays.copyOf(bytes.array(), bytes.position());
        }
    }
}
