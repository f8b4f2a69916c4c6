package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.Programs;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.VolumeContent.Rights;
import dev.cay.wire.node.VolumeEntry;
import dev.cay.wire.node.VolumeMount;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/// A volume is no way to anything else: not by links, devices, rights, subvolumes or a mount that is moved.
@NeedsRoot
final class VolumeIsolationTest extends VolumeLab {
    @Test
    void aReadOnlyVolumeIsChangedByNobodyInside() throws Exception {
        var shared = volume(8);
        put(shared, "/note", "read me");
        node.keepers.create(mounting("one", new VolumeMount(shared, "/data", true)));
        assertThat(node.run("one", "cat /data/note")).isEqualTo("read me");
        assertThat(node.run(
                        "one", "touch /data/x; chmod 777 /data/note; rm /data/note; mount -o remount,rw /data; true"))
                .contains("Read-only file system");
        assertThat(node.run("one", "grep ' /data ' /proc/mounts")).contains(" ro,");
        pauseForGood();
        node.keepers.resume(ONE, true);
        assertThat(node.run("one", "touch /data/x; true")).contains("Read-only file system");
        assertThat(text(shared, "/note")).isEqualTo("read me");
    }

    @Test
    void setUidProgramsAndDevicesOfAVolumeAreOfNoUse() throws Exception {
        var shared = volume(8);
        node.keepers.create(mounting("one", at(shared, "/data")));
        assertThat(node.run("one", "grep ' /data ' /proc/mounts"))
                .contains("nosuid")
                .contains("nodev");
        assertThat(
                        node.run(
                                "one",
                                "cp /usr/bin/id /data/id; chmod 4755 /data/id; su user -c '/data/id -u'; cp /usr/bin/id /id; chmod 4755 /id; su user -c '/id -u'"))
                .isEqualTo("1000\n0");
    }

    /// Nobody inside can make a device, so root of the host does.
    @Test
    void aDeviceOnAVolumeDoesNotOpen() throws Exception {
        var shared = volume(8);
        node.keepers.create(mounting("one", at(shared, "/data")));
        for (Path directory : List.of(place(shared), place.directory())) {
            String device = directory.resolve("zero").toString();
            Programs.ofHost().require(TestNode.LIMIT, "mknod", "-m", "666", device, "c", "1", "5");
        }
        assertThat(node.run("one", "head -c 3 /dev/zero | wc -c; head -c 3 /data/zero 2>&1 | head -c 200"))
                .startsWith("3")
                .contains("Permission denied");
        assertThat(node.run("one", "mknod /data/mine c 1 5 2>&1; true")).contains("not permitted");
        try (var in = Files.newInputStream(place.directory().resolve("zero"))) {
            assertThat(in.readNBytes(3))
                    .as("the control: the same file elsewhere")
                    .hasSize(3);
        }
    }

    /// A link among a template's or a sandbox's files must not move a mount: over /proc it would let a volume speak for
    /// the kernel.
    @Test
    void aLinkOnTheWayToAMountIsRefused() throws Exception {
        var shared = volume(8);
        node.keepers.create(mounting("one", at(shared, "/fresh/data")));
        assertThat(node.run("one", "mv /fresh /elsewhere && ln -s /proc /fresh"))
                .isEmpty();
        node.keepers.pause(ONE, Keep.FILES);

        assertKind(
                ErrorKind.NOT_RESTORED,
                "nothing can be mounted at /fresh/data: 'fresh' on the way there is a link",
                () -> node.keepers.resume(ONE, true));
        assertThat(node.keepers.find(ONE).orElseThrow().saved()).isNotNull();
    }

    @Test
    void aLinkInAVolumeLeadsNowhereOutside() throws Exception {
        var shared = volume(8);
        node.keepers.create(mounting("one", at(shared, "/data")));
        var secret = Files.writeString(place.directory().resolve("secret"), "of the host");
        node.run(
                "one",
                "ln -s %s /data/abs; ln -s ../../../../../../../..%s /data/up; ln -s / /data/root; mkfifo /data/pipe; ln -s /data/pipe /data/topipe; mkdir /data/d; ln -s d /data/link; echo inside > /data/d/f"
                        .formatted(secret, secret));
        var content = volumes().content(shared, OWNER);

        for (String path : List.of("/abs", "/up", "/root" + secret, "/../.." + secret, "/d/../.." + secret)) {
            assertKind(ErrorKind.NOT_FOUND, "does not exist", () -> content.read(path));
            assertKind(
                    ErrorKind.NOT_FOUND,
                    "does not exist",
                    () -> content.write(path + "/x", USUAL, false, InputStream.nullInputStream()));
        }
        assertKind(ErrorKind.NOT_FOUND, "does not exist", () -> put(shared, "/abs", "overwritten"));
        assertThat(Files.readString(secret)).isEqualTo("of the host");
        assertKind(
                ErrorKind.INVALID_ARGUMENT,
                "neither a file nor a directory",
                () -> content.change("/up", new Rights(null, null, 0777)));
        assertKind(ErrorKind.INVALID_ARGUMENT, "not a regular file", () -> content.read("/pipe"));
        assertKind(ErrorKind.INVALID_ARGUMENT, "not a regular file", () -> put(shared, "/pipe", "x"));
        assertThat(content.stat("/up").type()).isEqualTo(VolumeEntry.Type.SYMLINK);
        assertThat(content.stat("/link").target()).isEqualTo("d");
        assertThat(text(shared, "/link/f")).isEqualTo("inside\n");
        assertThat(content.list("/", 9))
                .extracting(VolumeEntry::path)
                .contains("/d/f")
                .doesNotContain("/link/f");
        content.remove("/root");
        content.remove("/link");
        assertThat(Files.exists(secret)).isTrue();
        assertThat(text(shared, "/d/f")).isEqualTo("inside\n");
    }

    /// Requests of btrfs as `btrfs subvolume` makes them; prints what the kernel says. The first ones are refused, the
    /// last ones are the controls.
    private static final String SUBVOLUMES = """
            python3 -c "
            import fcntl, os
            d = os.open('/data', os.O_RDONLY)
            def ask(request, size, name=b'inner'):
                try: fcntl.ioctl(d, request, bytearray(bytes(8) + name.ljust(size - 8, bytes(1))))
                except OSError as e: return e.strerror
                return 'done'
            for request, size in ((0x5000940e, 4096), (0x50009401, 4096), (0x5000940f, 4096), (0x50009417, 4096),
                                  (0x50009418, 4096), (0x4008941a, 16), (0xc0c89425, 200), (0x5000943f, 4096)):
                print(ask(request, size))
            a = open('/data/a', 'wb+'); a.write(b'shared' * 4096); a.flush()
            b = open('/data/b', 'wb+'); fcntl.ioctl(b, 0x40049409, a.fileno())
            print(b.read(6).decode(), os.get_terminal_size(os.open('/dev/ptmx', os.O_RDWR)).columns)
            "; ls /data; su user -c 'python3 -c \"import fcntl, os; fcntl.ioctl(os.open(\\\"/data\\\", os.O_RDONLY), 0x5000940e, bytearray(4096))\"' 2>&1 | tail -n 1
            """;

    /// What is in a subvolume of a volume does not count against the volume's size, and keeps it from being deleted.
    @Test
    void aSandboxMakesNoSubvolumeInAVolume() throws Exception {
        var small = volume(8);
        node.keepers.create(mounting("one", at(small, "/data")));
        assertThat(node.run("one", SUBVOLUMES).lines())
                .containsExactly(
                        "Operation not permitted",
                        "Operation not permitted",
                        "Operation not permitted",
                        "Operation not permitted",
                        "Operation not permitted",
                        "Operation not permitted",
                        "Operation not permitted",
                        "Operation not permitted",
                        "shared 0",
                        "a",
                        "b",
                        "PermissionError: [Errno 1] Operation not permitted");
        node.keepers.kill(ONE);
        volumes().delete(small);
        assertThat(place(small)).doesNotExist();
    }

    /// The filter of system calls is part of what is saved.
    @Test
    void aRestoredSandboxMakesNoSubvolumeInAVolume() throws Exception {
        var small = volume(8);
        node.keepers.create(mounting("one", at(small, "/data")));
        pauseForGood();
        node.keepers.resume(ONE, true);
        assertThat(node.run("one", SUBVOLUMES).lines())
                .filteredOn("Operation not permitted"::equals)
                .hasSize(8);
        assertThat(node.run("one", "ls /data")).isEqualTo("a\nb");
    }
}
