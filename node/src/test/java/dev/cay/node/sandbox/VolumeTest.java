package dev.cay.node.sandbox;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.host.Programs;
import dev.cay.node.process.DoomedProgram;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.Durability;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.NodeVolumes;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.Saved;
import dev.cay.wire.node.VolumeContent;
import dev.cay.wire.node.VolumeContent.Rights;
import dev.cay.wire.node.VolumeEntry;
import dev.cay.wire.node.VolumeMount;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Volumes in real sandboxes: shared, limited, kept through pauses, copied with nobody, and no way to anything else.
@NeedsRoot
class VolumeTest extends NodeTest {
    private static final TeamId OWNER = new TeamId("team");

    private static final Rights USUAL = new Rights(null, null, null);
    private static final SandboxId ONE = new SandboxId("one");

    /// How long a busy machine takes to write gigabytes.
    private static final Duration A_FULL_DISK = Duration.ofMinutes(8);

    private NodeVolumes volumes() {
        return node.node.disk().volumes();
    }

    private VolumeId volume(int megabytes) {
        var id = VolumeId.random();
        volumes().create(id, (long) megabytes << 20);
        return id;
    }

    private static SandboxSpec mounting(String id, VolumeMount... mounts) {
        return TestNode.spec(id).withVolumes(List.of(mounts));
    }

    private static VolumeMount at(VolumeId volume, String path) {
        return new VolumeMount(volume, path, false);
    }

    private static SandboxSpec from(SandboxSpec spec, String snapshot) {
        return new SandboxSpec(
                spec.id(),
                spec.templateId(),
                spec.layers(),
                spec.resources(),
                spec.environment(),
                spec.accessToken(),
                spec.defaultUser(),
                spec.defaultWorkdir(),
                spec.egress(),
                snapshot,
                null,
                spec.volumes());
    }

    private void put(VolumeId volume, String path, String text) throws IOException {
        volumes().content(volume, OWNER).write(path, USUAL, true, new ByteArrayInputStream(text.getBytes(UTF_8)));
    }

    private String text(VolumeId volume, String path) throws IOException {
        try (var file = volumes().content(volume, OWNER).read(path)) {
            return new String(file.stream().readAllBytes(), UTF_8);
        }
    }

    private static void assertKind(ErrorKind kind, String text, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(CayException.class, e -> {
            assertThat(e.userMessage()).contains(text);
            assertThat(e.kind()).as(e.toString()).isEqualTo(kind);
        });
    }

    /// Only what CRIU brings back tests anything; a frozen original would be thawed.
    private void pauseForGood() throws Exception {
        node.keepers.pause(ONE, Keep.MEMORY);
        Await.until("the container is gone", () -> node.runc.find(ONE).isEmpty());
    }

    private void restart() throws Exception {
        node.close();
        node = new TestNode(place);
    }

    private void start(String id, String script) throws Exception {
        TestNode.event(node.start(id, script));
    }

    private int count(String id) throws Exception {
        String text = node.run(id, "tail -n 1 /count 2>/dev/null || echo 0");
        return text.isEmpty() ? 0 : Integer.parseInt(text);
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

    private Path place(VolumeId volume) {
        return node.host.pool().volumes().place(volume);
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

    @Test
    void aSandboxGoesOnWhereFilesOfItsVolumeGrewShrankAndChanged() throws Exception {
        var shared = volume(64);
        node.keepers.create(mounting("one", at(shared, "/data")));
        node.run("one", "echo start > /data/grows; seq 1000 > /data/shrinks; echo x > /data/rights");
        start(
                "one",
                "exec 3>>/data/grows 4</data/shrinks 5</data/rights; i=0; while :; do i=$((i+1)); echo tick-$i >&3; echo $i >> /count; sleep 0.05; done");
        Await.until("the process counts", () -> count("one") > 3);
        pauseForGood();
        Files.writeString(place(shared).resolve("grows"), text(shared, "/grows") + "meanwhile\n".repeat(5000));
        put(shared, "/shrinks", "1\n");
        volumes().content(shared, OWNER).change("/rights", new Rights(null, null, 0600));

        node.keepers.resume(ONE, true);

        int now = count("one");
        Await.until("the process counts after the resume", () -> count("one") > now);
        assertThat(text(shared, "/grows")).contains("meanwhile\ntick-");
    }

    @Test
    void aVanishedFileEndsAResumeByItsNameAndTheSandboxStartsWithoutMemory() throws Exception {
        var shared = volume(8);
        node.keepers.create(mounting("one", at(shared, "/data")));
        node.run("one", "echo kept > /own");
        start("one", "exec 3>>/data/open-one; i=0; while :; do i=$((i+1)); echo $i >> /count; sleep 0.05; done");
        Await.until("the process counts", () -> count("one") > 3);
        pauseForGood();
        volumes().content(shared, OWNER).remove("/open-one");

        assertKind(
                ErrorKind.NOT_RESTORED,
                "it has /data/open-one open, which is not there any more",
                () -> node.keepers.resume(ONE, true));
        assertThat(node.keepers.find(ONE).orElseThrow().saved()).isEqualTo(Saved.WHOLE);

        node.keepers.resume(ONE, false);
        assertThat(node.run("one", "cat /own; ls /data")).isEqualTo("kept");
    }

    @Test
    void aVanishedFileThatIsPutBackLetsItGoOn() throws Exception {
        var shared = volume(8);
        node.keepers.create(mounting("one", at(shared, "/data")));
        start("one", "exec 3>>/data/open-one; i=0; while :; do i=$((i+1)); echo $i >> /count; sleep 0.05; done");
        Await.until("the process counts", () -> count("one") > 3);
        pauseForGood();
        volumes().content(shared, OWNER).remove("/open-one");
        assertThatThrownBy(() -> node.keepers.resume(ONE, true)).isInstanceOf(CayException.class);
        put(shared, "/open-one", "another");

        node.keepers.resume(ONE, true);

        int now = count("one");
        Await.until("the process counts after the start", () -> count("one") > now);
    }

    @Test
    void aMountThatWasMovedIsToldAtThePause() throws Exception {
        var shared = volume(8);
        node.keepers.create(mounting("one", at(shared, "/fresh/data")));
        assertThat(node.run("one", "echo text > /fresh/data/file; mv /fresh /moved"))
                .isEmpty();

        assertKind(
                ErrorKind.NOT_SAVED,
                "the volume at /fresh/data was moved by renaming a directory above it and is at /moved/data now",
                () -> node.keepers.pause(ONE, Keep.MEMORY));
        assertThat(node.run("one", "cat /moved/data/file; mv /moved /fresh")).isEqualTo("text");
        assertThat(node.keepers.pause(ONE, Keep.MEMORY)).isEqualTo(Saved.WHOLE);
        node.keepers.resume(ONE, true);
        assertThat(node.run("one", "cat /fresh/data/file")).isEqualTo("text");
    }

    /// A mount is at each place, and not the one that was made there.
    @Test
    void mountsThatWereSwappedAreToldAtThePause() throws Exception {
        var one = volume(8);
        var two = volume(8);
        node.keepers.create(mounting("one", at(one, "/first/data"), at(two, "/second/data")));
        String swap = "mv /first /between && mv /second /first && mv /between /second";
        assertThat(node.run("one", "echo text > /first/data/file; " + swap)).isEmpty();
        assertThat(node.run("one", "cat /second/data/file")).isEqualTo("text");

        assertKind(
                ErrorKind.NOT_SAVED,
                "the volume at /first/data was moved by renaming a directory above it and is at /second/data now",
                () -> node.keepers.pause(ONE, Keep.MEMORY));
        assertThat(node.run("one", swap)).isEmpty();
        assertThat(node.keepers.pause(ONE, Keep.MEMORY)).isEqualTo(Saved.WHOLE);
        node.keepers.resume(ONE, true);
        assertThat(node.run("one", "cat /first/data/file")).isEqualTo("text");
    }

    @Test
    void forksAndSnapshotsHaveTheVolumeAndNoCopyOfIt() throws Exception {
        var shared = volume(64);
        var other = volume(8);
        node.keepers.create(mounting("one", at(shared, "/data")));
        node.run("one", "echo before > /data/file; echo before > /own");
        node.keepers.snapshot(ONE, "snap", Keep.MEMORY);
        node.run("one", "echo after > /data/file; echo after > /own");

        node.keepers.create(from(mounting("two", at(shared, "/data")), "snap"));
        assertThat(node.run("two", "cat /data/file /own")).isEqualTo("after\nbefore");
        node.run("two", "echo both > /data/file");
        assertThat(node.run("one", "cat /data/file")).isEqualTo("both");

        node.keepers.create(from(mounting("three", at(other, "/data")), "snap"));
        assertThat(node.run("three", "ls /data; cat /own")).isEqualTo("before");
        assertKind(
                ErrorKind.CONFLICT,
                "cannot be restored with volumes at",
                () -> node.keepers.create(from(mounting("four", at(shared, "/elsewhere")), "snap")));

        node.keepers.rollback(ONE, "snap");
        assertThat(node.run("one", "cat /data/file /own")).isEqualTo("both\nbefore");
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

    /// Echoes what comes, and says in a file how many clients it has.
    private static final String ECHO = """
            exec python3 -c '
            import os, socket, threading
            server = socket.socket(socket.AF_UNIX); server.bind("/data/s"); server.listen(8)
            def echo(c):
                for data in iter(lambda: c.recv(100), b""): c.sendall(data)
                c.close(); open("/left", "w").close()
            while True:
                c = server.accept()[0]; threading.Thread(target=echo, args=(c,)).start()'
            """.strip();

    /// Sends a number a time and writes what comes back.
    private static final String ASK = """
            exec python3 -c '
            import os, socket, time
            client = socket.socket(socket.AF_UNIX); client.connect("/data/s")
            i = 0
            while not os.path.exists("/stop"):
                i += 1; client.sendall(b"%d\\n" % i)
                open("/new", "wb").write(client.recv(100)); os.rename("/new", "/count"); time.sleep(0.02)'
            """.strip();

    private static final String MESSAGES = """
            exec python3 -c '
            import os, socket
            server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); server.bind("/data/s")
            while True:
                data = server.recv(100); open("/heard", "wb").write(data)'
            """.strip();

    private static final String SEND = """
            exec python3 -c '
            import os, socket, time
            client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); client.connect("/data/s"); client.settimeout(0.1)
            i = 0
            while True:
                i += 1
                try: client.send(b"%d" % i)
                except OSError: pass
                open("/new", "w").write(str(i)); os.rename("/new", "/count"); time.sleep(0.02)'
            """.strip();

    private static final String CONNECTED =
            "(python3) is connected with another sandbox over a unix socket in a volume";

    /// Two sandboxes, `one` with this server and `two` with this client of it.
    private void speak(VolumeId shared, String server, String client) throws Exception {
        node.keepers.create(mounting("one", at(shared, "/data")));
        node.keepers.create(mounting("two", at(shared, "/data")));
        start("one", server);
        Await.until("the server listens", () -> Files.exists(place(shared).resolve("s")));
        start("two", client);
        Await.until("they speak", () -> count("two") > 3);
    }

    private void assertSpeak() throws Exception {
        int now = count("two");
        Await.until("they speak", () -> count("two") > now + 3);
    }

    /// A socket whose other end is in another sandbox cannot be brought back: that sandbox goes on meanwhile.
    @Test
    void aPauseNamesASocketToAnotherSandbox() throws Exception {
        speak(volume(8), ECHO, ASK);
        for (String id : List.of("one", "two")) {
            assertKind(ErrorKind.NOT_SAVED, CONNECTED, () -> node.keepers.pause(new SandboxId(id), Keep.MEMORY));
            assertSpeak();
            var saved = node.keepers.snapshot(new SandboxId(id), "named" + id, Keep.MEMORY_IF_POSSIBLE);
            assertThat(saved.loss()).contains(CONNECTED);
            assertSpeak();
        }
        // Without the client it can be saved, and the server is found at its place afterwards.
        node.run("two", "touch /stop");
        Await.until("the connection ended", () -> node.run("one", "ls /").contains("left"));
        pauseForGood();
        node.keepers.resume(ONE, true);
        node.run("two", "rm /stop /count");
        start("two", ASK);
        assertSpeak();
    }

    @Test
    void aPauseNamesASocketForMessagesToAnotherSandbox() throws Exception {
        speak(volume(8), MESSAGES, SEND);
        assertKind(ErrorKind.NOT_SAVED, CONNECTED, () -> node.keepers.pause(new SandboxId("two"), Keep.MEMORY));
        assertSpeak();
        pauseForGood();
        node.keepers.resume(ONE, true);
        Await.until(
                "the server hears again", () -> node.run("one", "cat /heard").length() > 0);
    }

    /// The pause is answered before anybody knows.
    @Test
    void aFrozenOneWithASocketToAnotherSandboxSaysWhyItIsNotSavedAndGoesOn() throws Exception {
        node.close();
        node = TestNode.freezing(place, runtime -> runtime, 4096);
        speak(volume(8), ECHO, ASK);
        assertThat(node.keepers.pause(ONE, Keep.MEMORY, Durability.FROZEN)).isEqualTo(Saved.FROZEN);
        Await.until("the reason is known", () -> reason().contains(CONNECTED));
        node.keepers.resume(ONE, true);
        assertSpeak();
    }

    private String reason() {
        var saved = node.keepers.find(ONE).orElseThrow().saved();
        return saved == null || saved.frozen() == null
                ? ""
                : String.valueOf(saved.frozen().reason());
    }
}
