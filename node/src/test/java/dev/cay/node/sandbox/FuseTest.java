package dev.cay.node.sandbox;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.SystemPorts;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.VolumeMount;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// FUSE in real sandboxes, with a server that speaks the kernel's protocol: it works where the operator allows it, only
/// below directories of the asking user, and a server that does not answer holds up nobody but its own sandbox.
@NeedsRoot
class FuseTest extends NodeTest {
    private static final String ALLOWED = "fuse";
    private static final String OTHER = "other";
    private static final SandboxId ID = new SandboxId(ALLOWED);
    private static final String CONTENT = "served by a program";

    /// Longer than a call takes on a busy machine, and shorter than any limit of the node.
    private static final Duration SOON = Duration.ofSeconds(25);

    @BeforeAll
    static void requireKernel() throws IOException {
        assumeTrue(Files.readString(Path.of("/proc/filesystems")).contains("\tfuse\n"), "a kernel with FUSE");
    }

    private void create(String id) throws Exception {
        node.keepers.create(TestNode.spec(id));
        bring(id);
    }

    private void bring(String id) throws Exception {
        try (var program = Objects.requireNonNull(FuseTest.class.getResourceAsStream("fuse.py"))) {
            String text = Base64.getEncoder().encodeToString(program.readAllBytes());
            assertThat(node.run(id, "echo %s | base64 -d > /srv/fuse.py; mkdir -p /data/m".formatted(text)))
                    .isEmpty();
        }
    }

    private String ask(String id, String user, String what, String path, String rest) throws Exception {
        return node.run(id, "su %s -c \"python3 /srv/fuse.py ask %s '%s' '%s'\"".formatted(user, what, path, rest));
    }

    private void serve(String directory, String mode, String user) throws Exception {
        String said = node.run(
                ALLOWED,
                "rm -f /tmp/said; su %s -c 'python3 -u /srv/fuse.py serve %s %s rw,allow_other >/tmp/said 2>&1 &' ; for i in $(seq 200); do grep -qs . /tmp/said && break; sleep 0.05; done; cat /tmp/said"
                        .formatted(user, directory, mode));
        assertThat(said).startsWith("mounted");
    }

    private String mounts(String id) throws IOException {
        int pid = node.runc.find(new SandboxId(id)).orElseThrow().pid();
        return String.join(
                "\n",
                Files.readAllLines(Path.of("/proc/%d/mountinfo".formatted(pid))).stream()
                        .filter(line -> line.contains(" - fuse"))
                        .toList());
    }

    /// A process that waits for ever for an answer of the server.
    private void waitInside(String path) throws Exception {
        TestNode.event(node.start(ALLOWED, "stat " + path));
        Await.until(
                "the file system serves a request",
                () -> node.run(ALLOWED, "cat /var/tmp/fuse-*.log").contains("1 "));
    }

    private static void within(Duration limit, ThrowingCallable action) throws Throwable {
        long began = System.nanoTime();
        action.call();
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(limit);
    }

    private static void assertNotSaved(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(CayException.class, e -> {
            assertThat(e.userMessage()).contains("FUSE file system is mounted at /data/m.");
            assertThat(e.kind()).isEqualTo(ErrorKind.NOT_SAVED);
        });
    }

    @Test
    void programsServeFilesToTheirSandboxAndUnmountThem() throws Exception {
        create(ALLOWED);
        serve("/data/m", "plain", "root");
        assertThat(node.run(ALLOWED, "cat /data/m/f; su user -c 'cat /data/m/f'"))
                .isEqualTo(CONTENT + "\n" + CONTENT);
        // Whatever was asked for: a program of the server's with the set-user-id bit is an ordinary one.
        assertThat(mounts(ALLOWED)).contains(" /data/m rw,nosuid,nodev,");
        assertThat(node.run(ALLOWED, "su user -c 'fusermount3 -u /data/m'")).contains("another user has mounted");
        assertThat(node.run(ALLOWED, "fusermount3 -u /data/m; cat /data/m/f"))
                .contains("No such file")
                .doesNotContain(CONTENT);
        assertThat(mounts(ALLOWED)).isEmpty();
        assertThat(node.run(ALLOWED, "cd / && fusermount3 -u data/m"))
                .isEqualTo("fusermount3: there is no FUSE file system at /data/m");
        // A user mounts in a directory of its own, and by a path that leads there through a link.
        assertThat(node.run(ALLOWED, "su user -c 'mkdir -p ~/mine && ln -s ~/mine ~/link'"))
                .isEmpty();
        serve("/home/user/link", "plain", "user");
        assertThat(node.run(ALLOWED, "su user -c 'cat ~/mine/f'")).isEqualTo(CONTENT);
        // In use: only -z takes it away, and what has it open gets an error.
        TestNode.event(node.start(ALLOWED, "exec 3< /home/user/mine/f; sleep 100"));
        Await.until(
                "the file in the mount is open",
                () -> node.run(ALLOWED, "ls -l /proc/[0-9]*/fd 2>/dev/null").contains("mine/f"));
        assertThat(node.run(ALLOWED, "fusermount3 -u /home/user/mine")).contains("busy");
        assertThat(node.run(ALLOWED, "fusermount3 -uz /home/user/mine")).isEmpty();
        assertThat(mounts(ALLOWED)).isEmpty();
    }

    /// Every user reads in `/proc/net/unix` where the programs of others listen.
    @Test
    void nobodyMountsInTheNameOfAnotherUsersProgram() throws Exception {
        create(ALLOWED);
        String name = "cay-fuse-" + "0".repeat(32);
        TestNode.event(node.start(
                ALLOWED,
                "exec python3 -c \"import socket, time; s = socket.socket(socket.AF_UNIX); s.bind(chr(0) + '%s'); s.listen(4); time.sleep(100)\""
                        .formatted(name)));
        Await.until(
                "the socket of the program",
                () -> node.run(ALLOWED, "su user -c 'cat /proc/net/unix'").contains(name));
        String ask = "ASKER=%s timeout 5 python3 /srv/fuse.py ask mount /data/m rw".formatted(name);
        assertThat(node.run(ALLOWED, "su user -c '%s'".formatted(ask)))
                .startsWith("400")
                .contains("of another user");
        assertThat(mounts(ALLOWED)).isEmpty();
        assertThat(node.run(ALLOWED, ask)).as("the control: root itself").startsWith("200");
    }

    @Test
    void aFileSystemEndsWithItsServerWhereThatIsAskedFor() throws Exception {
        create(ALLOWED);
        // The program that serves it waits no longer than for the connection: fusermount3 stays.
        String script =
                "(python3 -u /srv/fuse.py serve /data/m plain rw,auto_unmount >/tmp/said 2>&1 &); for i in $(seq 200); do grep -qs . /tmp/said && break; sleep 0.05; done; cat /tmp/said";
        assertThat(node.run(ALLOWED, script)).startsWith("mounted");
        assertThat(node.run(ALLOWED, "cat /data/m/f")).isEqualTo(CONTENT);
        node.run(ALLOWED, "pkill -9 -x python3");
        Await.until("all mounts are gone", () -> mounts(ALLOWED).isEmpty());
    }

    @Test
    void templatesThatTheOperatorDoesNotNameHaveNothingOfIt() throws Exception {
        create(OTHER);
        assertThat(node.run(OTHER, "ls /dev/fuse /usr/bin/fusermount3 2>&1 | grep -c 'No such file'"))
                .isEqualTo("2");
        assertThat(ask(OTHER, "root", "mount", "/data/m", "rw"))
                .startsWith("403")
                .contains("sandboxes.fuseTemplates");
        assertThat(mounts(OTHER)).isEmpty();
        // Nor does the right to mount come with it where it is allowed.
        create(ALLOWED);
        String mount =
                "import ctypes; libc = ctypes.CDLL(None, use_errno=True); print(libc.mount(b'x', b'/data/m', b'tmpfs', 0, b''), ctypes.get_errno())";
        assertThat(node.run(ALLOWED, "python3 -c \"%s\"".formatted(mount))).isEqualTo("-1 1");
        assertThat(node.run(ALLOWED, "test -c /dev/fuse || echo no device")).isEqualTo("no device");
        // From outside there is no way to it, whatever token is shown.
        assertThat(node.get(ALLOWED, SystemPorts.ENVD, "/fuse/mount").statusCode())
                .isEqualTo(404);
    }

    private record Refusal(String user, String path, String why) {}

    private static final List<Refusal> REFUSALS = List.of(
            new Refusal("root", "/etc/ssl", "belongs to the system"),
            new Refusal("root", "/usr/local/m", "belongs to the system"),
            new Refusal("root", "/run/e2b", "belongs to the system"),
            new Refusal("root", "/proc/sys", "belongs to the system"),
            new Refusal("root", "/", "as a whole path"),
            new Refusal("root", "/data/../etc/ssl", "as a whole path"),
            new Refusal("root", "/link", "symbolic link"),
            new Refusal("root", "/data/link/m", "symbolic link"),
            new Refusal("user", "/data/m", "belongs to another user"),
            new Refusal("user", "/home", "belongs to another user"),
            new Refusal("root", "/volume", "not on the sandbox's own disk"),
            new Refusal("root", "/volume/below", "not on the sandbox's own disk"),
            new Refusal("root", "/srv/fuse.py", "Not a directory"),
            new Refusal("root", "/data/none", "No such file"));

    @Test
    void onlyOwnDirectoriesAreMountedOn() throws Exception {
        var volume = VolumeId.random();
        node.node.disk().volumes().create(volume, 16L << 20);
        node.keepers.create(TestNode.spec(ALLOWED).withVolumes(List.of(new VolumeMount(volume, "/volume", false))));
        bring(ALLOWED);
        node.run(
                ALLOWED,
                "mkdir -p /volume/below /usr/local/m /data/real/m; ln -s /etc/ssl /link; ln -s real /data/link");
        var mounted = new ArrayList<Refusal>();
        for (var refusal : REFUSALS) {
            String said = ask(ALLOWED, refusal.user(), "mount", refusal.path(), "rw");
            if (said.startsWith("200") || !mounts(ALLOWED).isEmpty()) {
                mounted.add(refusal);
                ask(ALLOWED, "root", "unmount", mounts(ALLOWED).split(" ")[4], "lazy");
            } else {
                assertThat(said).as(refusal.toString()).contains(refusal.why());
            }
        }
        assertThat(mounted).isEmpty();
        // The same users with directories of their own.
        node.run(ALLOWED, "su user -c 'mkdir -p ~/own'; mkdir -p /root/own");
        assertThat(ask(ALLOWED, "root", "mount", "/root/own", "rw")).startsWith("200");
        assertThat(ask(ALLOWED, "user", "mount", "/home/user/own", "rw")).startsWith("200");
        assertThat(mounts(ALLOWED)).contains("/root/own", "/home/user/own");
    }

    @Test
    void optionsSayNothingOfOwnersDescriptorsOrRights() throws Exception {
        create(ALLOWED);
        for (String option : List.of("user_id=1000", "group_id=0", "fd=5", "rootmode=100000", "blkdev", "context=x")) {
            assertThat(ask(ALLOWED, "root", "mount", "/data/m", "rw," + option))
                    .as(option)
                    .startsWith("400")
                    .contains("cannot be had");
        }
        assertThat(mounts(ALLOWED)).isEmpty();
        assertThat(ask(ALLOWED, "root", "mount", "/data/m", "suid,dev,exec,ro,noexec,fsname=a\\,b c,subtype=s3fs"))
                .startsWith("200");
        assertThat(mounts(ALLOWED))
                .contains(" /data/m ro,nosuid,nodev,noexec,")
                .contains(" - fuse.s3fs a,b\\040c ")
                .contains("user_id=0,group_id=0");
        assertThat(ask(ALLOWED, "root", "mount", "/data", "rw"))
                .startsWith("409")
                .contains("/data/m");
    }

    @Test
    void aSandboxHasNoMoreThanEight() throws Exception {
        create(ALLOWED);
        node.run(ALLOWED, "for i in 1 2 3 4 5 6 7 8 9; do mkdir -p /data/$i; done");
        String asked = node.run(
                ALLOWED,
                "for i in 1 2 3 4 5 6 7 8 9; do python3 /srv/fuse.py ask mount /data/$i rw & done; wait; echo");
        assertThat(asked.lines().filter(line -> line.startsWith("200"))).hasSize(8);
        assertThat(asked).contains("which is the most");
        assertThat(mounts(ALLOWED).lines()).hasSize(8);
    }

    @Test
    void theNodeNeverWaitsForAServerAndNeverReadsThroughIt() throws Throwable {
        create(ALLOWED);
        serve("/data/m", "lookup", "root");
        waitInside("/data/m/f");
        String before = node.run(ALLOWED, "cat /var/tmp/fuse-*.log | wc -l");
        for (String path : List.of("/data/m/f", "/data/m", "/data/m/none/deep")) {
            within(SOON, () -> {
                var answer =
                        node.get(ALLOWED, SystemPorts.ENVD, "/files?path=%s".formatted(URLEncoder.encode(path, UTF_8)));
                assertThat(answer.statusCode()).as(path + answer.body()).isBetween(400, 499);
            });
        }
        within(SOON, () -> assertThat(node.run(ALLOWED, "echo still here")).isEqualTo("still here"));
        // What any program of the host sees, root's among them.
        int pid = node.runc.find(ID).orElseThrow().pid();
        within(
                SOON,
                () -> assertThat(Files.isReadable(Path.of("/proc/%d/root/data/m/f".formatted(pid))))
                        .isFalse());
        within(SOON, () -> node.keepers.list());
        assertThat(node.run(ALLOWED, "cat /var/tmp/fuse-*.log | wc -l")).isEqualTo(before);
    }

    @Test
    void aSandboxWithAMountIsNotSavedAndGoesOn() throws Throwable {
        create(ALLOWED);
        serve("/data/m", "lookup", "root");
        waitInside("/data/m/f");
        within(SOON, () -> assertNotSaved(() -> node.keepers.pause(ID, Keep.MEMORY)));
        within(SOON, () -> assertNotSaved(() -> node.keepers.snapshot(ID, "kept", Keep.MEMORY)));
        within(SOON, () -> node.keepers.snapshot(ID, "kept", Keep.FILES));
        node.keepers.deleteSnapshot("kept");
        assertThat(node.run(ALLOWED, "echo goes on")).isEqualTo("goes on");
        assertThat(node.run(
                        ALLOWED,
                        "fusermount3 -uz /data/m; while pgrep -x 'python3|stat' >/dev/null; do sleep 0.1; done"))
                .isEmpty();
        node.keepers.pause(ID, Keep.MEMORY);
        Await.until("the container is gone", () -> node.runc.find(ID).isEmpty());
        node.keepers.resume(ID, true);
        serve("/data/m", "plain", "root");
        assertThat(node.run(ALLOWED, "cat /data/m/f")).isEqualTo(CONTENT);
    }

    /// As when the time of a sandbox is over. Its processes end with that, and so does what they serve.
    @Test
    void aPauseThatKeepsMemoryIfItCanKeepsTheFilesAndSaysWhy() throws Throwable {
        create(ALLOWED);
        serve("/data/m", "lookup", "root");
        waitInside("/data/m/f");
        node.run(ALLOWED, "echo kept > /data/kept");
        within(SOON, () -> {
            var saved = node.keepers.pause(ID, Keep.MEMORY_IF_POSSIBLE);
            assertThat(saved.memory()).isFalse();
            assertThat(saved.toString()).contains("mounted at /data/m.");
        });
        node.keepers.resume(ID, true);
        assertThat(node.run(ALLOWED, "cat /data/kept; ls /data/m | wc -l")).isEqualTo("kept\n0");
    }

    /// A killed process ends only when its request is answered, and here the server is the one who waits.
    @Test
    void aSandboxWhoseServerWaitsForItselfIsKilledInTime() throws Throwable {
        create(ALLOWED);
        serve("/data/m", "self", "root");
        Await.until(
                "the file system serves a request",
                () -> node.run(ALLOWED, "cat /var/tmp/fuse-*.log").contains("1 "));
        var container = node.runc.find(ID).orElseThrow();
        within(SOON, () -> node.keepers.kill(ID));
        assertThat(container.hasEnded()).isTrue();
        assertThat(node.cgroups(ALLOWED)).isEmpty();
    }

    @Test
    void mountsOutliveTheDaemonAndSoDoTheirRules() throws Throwable {
        create(ALLOWED);
        serve("/data/m", "plain", "root");
        node.close();
        node = new TestNode(place);
        assertThat(node.run(ALLOWED, "cat /data/m/f")).isEqualTo(CONTENT);
        within(SOON, () -> assertNotSaved(() -> node.keepers.pause(ID, Keep.MEMORY)));
        assertThat(node.run(ALLOWED, "fusermount3 -u /data/m")).isEmpty();
    }
}
