package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.life.Trees;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.AccessToken;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.SystemPorts;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.Saved;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/// A paused sandbox has nothing but disk, and goes on where it was; so do copies of one that runs.
@NeedsRoot
class PauseTest extends NodeTest {
    private static final SandboxId ID = new SandboxId("sleeper");
    /// Adds a line for each number: a file that is emptied before it is written could be saved empty.
    private static final String COUNTER = "i=0; while true; do i=$((i+1)); echo $i >> /count; sleep 0.02; done";

    /// Counts only while there is a file, so that it stands still in a snapshot; a line for each number.
    private static final String GATED = "i=0; while true; do"
            + " if [ -e /go ]; then i=$((i+1)); echo $i >> /count; else touch /idle; fi; sleep 0.02; done";

    @Test
    void aRenewedTokenShutsOutWhoHasTheOldOne() throws Exception {
        var old = new AccessToken("0".repeat(64));
        var fresh = new AccessToken("1".repeat(64));
        var id = new SandboxId("renewed");
        node.keepers.create(TestNode.spec("renewed").withAccessToken(old));
        assertThat(opens(old)).isEqualTo(200);
        var open = node.http
                .send(
                        withToken(old, "/process.Process/Start")
                                .header("Content-Type", "application/connect+json")
                                .POST(HttpRequest.BodyPublishers.ofByteArray(
                                        TestNode.envelope("{\"process\":{\"cmd\":\"sleep\",\"args\":[\"300\"]}}")))
                                .build(),
                        HttpResponse.BodyHandlers.ofInputStream())
                .body();
        assertThat(TestNode.event(open)).contains("pid");
        node.keepers.renewToken(id, fresh);
        assertThatThrownBy(open::readAllBytes).isInstanceOf(IOException.class);
        assertThat(opens(old)).isEqualTo(401);
        assertThat(opens(fresh)).isEqualTo(200);

        node.keepers.pause(id, Keep.MEMORY);
        node.keepers.renewToken(id, old);
        node.keepers.resume(id, true);
        assertThat(opens(fresh)).isEqualTo(401);
        assertThat(opens(old)).isEqualTo(200);
    }

    private HttpRequest.Builder withToken(AccessToken token, String path) {
        return node.request("renewed", SystemPorts.ENVD, path).header("X-Access-Token", token.value());
    }

    private int opens(AccessToken token) throws Exception {
        return node.http
                .send(
                        withToken(token, "/process.Process/List")
                                .header("Content-Type", "application/json")
                                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .statusCode();
    }

    @Test
    void keepsProcessesThroughPausesAndARestartBetween() throws Exception {
        node.keepers.create(TestNode.spec("sleeper"));
        int slot = slot();
        start("sleeper", COUNTER);
        await(() -> count("sleeper") > 3);
        String boot = node.run("sleeper", "cat /proc/sys/kernel/random/boot_id");

        assertThat(node.keepers.pause(ID, Keep.MEMORY)).isEqualTo(Saved.WHOLE);
        assertThat(node.keepers.find(ID).orElseThrow().saved()).isEqualTo(Saved.WHOLE);
        assertThat(node.get("sleeper", SystemPorts.ENVD, "/health").statusCode())
                .isEqualTo(502);
        assertThat(node.keepers.pause(ID, Keep.MEMORY)).isEqualTo(Saved.WHOLE);
        awaitSettled();
        assertThat(node.traces("sleeper", slot))
                .containsExactly(SandboxNotes.folder(place.records(), ID).toString());

        restart();
        assertThat(node.keepers.find(ID).orElseThrow().saved()).isEqualTo(Saved.WHOLE);
        assertThat(node.keepers.resume(ID, true).saved()).isNull();
        int first = count("sleeper");
        await(() -> count("sleeper") > first);
        assertThat(node.run("sleeper", "cat /proc/sys/kernel/random/boot_id")).isEqualTo(boot);

        node.keepers.pause(ID, Keep.MEMORY);
        awaitSettled();
        node.keepers.resume(ID, true);
        int second = count("sleeper");
        assertThat(second).isGreaterThanOrEqualTo(first);
        await(() -> count("sleeper") > second);
        await(() -> snapshots() == 0);
    }

    @Test
    void thawsWhatIsStillThere() throws Exception {
        node.keepers.create(TestNode.spec("sleeper"));
        start("sleeper", COUNTER);
        await(() -> count("sleeper") > 3);
        boolean thawed = false;
        for (int round = 0; round < 10 && !thawed; round++) {
            int pid = node.runc.find(ID).orElseThrow().pid();
            node.keepers.pause(ID, Keep.MEMORY);
            node.keepers.resume(ID, true);
            thawed = node.runc.find(ID).orElseThrow().pid() == pid;
            int count = count("sleeper");
            await(() -> count("sleeper") > count);
        }
        assertThat(thawed).as("the same processes, unless the disk was faster").isTrue();
    }

    @Test
    void keepsOnlyFilesWhenAsked() throws Exception {
        node.keepers.create(TestNode.spec("sleeper"));
        start("sleeper", COUNTER);
        await(() -> count("sleeper") > 3);
        String boot = node.run("sleeper", "cat /proc/sys/kernel/random/boot_id");
        assertThat(node.keepers.pause(ID, Keep.FILES)).isEqualTo(Saved.FILES);
        node.keepers.resume(ID, true);
        int count = count("sleeper");
        assertThat(count).isGreaterThan(3);
        assertThat(node.run("sleeper", "sleep 0.2; tail -n 1 /count")).isEqualTo(Integer.toString(count));
        assertThat(node.run("sleeper", "cat /proc/sys/kernel/random/boot_id")).isNotEqualTo(boot);
    }

    /// What root inside put in the way is told, and is nobody's loss but time: the files are still there.
    @Test
    void tellsWhyASandboxWhoseEtcIsALinkDoesNotComeBack() throws Exception {
        node.keepers.create(TestNode.spec("sleeper"));
        node.run("sleeper", "echo kept > /file; mv /etc /etc.old && ln -s /etc.old /etc");
        assertThat(node.keepers.pause(ID, Keep.FILES)).isEqualTo(Saved.FILES);

        assertThatThrownBy(() -> node.keepers.resume(ID, true)).isInstanceOfSatisfying(CayException.class, e -> {
            assertThat(e.kind()).isEqualTo(ErrorKind.NOT_RESTORED);
            assertThat(e.userMessage())
                    .contains(
                            "still paused with all that was saved",
                            "/etc among the sandbox's files is not a directory");
        });

        assertThat(node.keepers.find(ID).orElseThrow().saved()).isNotNull();
        var disk = node.host.pool().directory("snapshots").resolve("sleeper.1/disk");
        try (var files = Files.walk(disk)) {
            assertThat(files.filter(file -> file.endsWith("file") || file.endsWith("etc.old")))
                    .hasSize(2);
        }
    }

    @Test
    void rebootsOnFilesWhenAsked() throws Exception {
        node.keepers.create(TestNode.spec("sleeper"));
        start("sleeper", COUNTER);
        await(() -> count("sleeper") > 3);
        node.keepers.pause(ID, Keep.MEMORY);
        node.keepers.resume(ID, false);
        assertThat(node.run("sleeper", "tail -n 1 /count; sleep 0.2; tail -n 1 /count"))
                .matches("(\\d+)\\s+\\1");
    }

    @Test
    void copiesWhatRunsAndRollsBack() throws Exception {
        node.keepers.create(TestNode.spec("sleeper"));
        node.run("sleeper", "touch /go");
        start("sleeper", GATED);
        await(() -> count("sleeper") > 3);
        int taken = stopCounting("sleeper");
        node.run("sleeper", "echo before > /file");
        assertThat(node.keepers.snapshot(ID, "snap", Keep.MEMORY)).isEqualTo(Saved.WHOLE);
        node.run("sleeper", "echo after > /file");
        countOn("sleeper", taken);
        assertThat(stopCounting("sleeper")).isGreaterThan(taken);

        node.keepers.create(copyOf("fork", "snap"));
        assertThat(node.run("fork", "cat /file; hostname; echo $FROM_CREATE")).isEqualTo("before\nfork\n1");
        assertThat(count("fork")).isEqualTo(taken);
        countOn("fork", taken);
        node.run("fork", "echo mine > /file");
        assertThat(node.run("sleeper", "cat /file")).isEqualTo("after");

        node.keepers.rollback(ID, "snap");
        assertThat(node.run("sleeper", "cat /file")).isEqualTo("before");
        assertThat(count("sleeper")).isEqualTo(taken);
        countOn("sleeper", taken);
        stopCounting("sleeper");
        assertThat(node.keepers.snapshots()).containsExactly("snap");
        node.keepers.deleteSnapshot("snap");
        node.keepers.deleteSnapshot("snap");
        assertThat(node.keepers.snapshots()).isEmpty();
        assertThat(node.run("fork", "cat /file")).isEqualTo("mine");
    }

    private void countOn(String id, int from) throws Exception {
        node.run(id, "touch /go");
        await(() -> count(id) > from);
    }

    /// Returns how far it came, after a look at whether the process and its file agree on it.
    private int stopCounting(String id) throws Exception {
        node.run(id, "rm -f /go /idle");
        await(() -> node.run(id, "ls /idle").equals("/idle"));
        int count = count(id);
        assertThat(node.run(id, "wc -l < /count")).isEqualTo(Integer.toString(count));
        return count;
    }

    @Test
    void goesOnWhenThePauseCannotBeNoted() throws Exception {
        var obstacle = SandboxNotes.folder(place.records(), ID).resolve("sandbox.json.new");
        var broken = new AtomicBoolean(true);
        reopen(runtime -> new RuntimeAround(runtime) {
            @Override
            public void checkpoint(SandboxId id, Path images, After after) {
                super.checkpoint(id, images, after);
                if (broken.get()) {
                    change(() -> Files.createDirectories(obstacle.resolve("taken")));
                }
            }
        });
        node.keepers.create(TestNode.spec("sleeper"));
        start("sleeper", COUNTER);
        await(() -> count("sleeper") > 3);
        assertThatThrownBy(() -> node.keepers.pause(ID, Keep.MEMORY)).hasMessageContaining("could not be paused");
        int count = count("sleeper");
        await(() -> count("sleeper") > count);
        assertThat(node.keepers.find(ID).orElseThrow().saved()).isNull();
        assertThat(snapshots()).isZero();

        broken.set(false);
        Trees.delete(obstacle);
        assertThat(node.keepers.pause(ID, Keep.MEMORY)).isEqualTo(Saved.WHOLE);
        node.keepers.resume(ID, true);
        assertThat(count("sleeper")).isGreaterThanOrEqualTo(count);
    }

    /// A process whose first thread has ended and whose other one goes on. One that is ending looks so for a moment.
    private static final String HALF_ENDED =
            "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(%d,)).start(); print('begun', flush=True); ctypes.CDLL(None).pthread_exit(None)";

    @Test
    void saysThatAProcessOfWhichOnlyThreadsAreLeftCannotBeSaved() throws Exception {
        var tries = new AtomicInteger();
        countCheckpoints(tries);
        node.keepers.create(TestNode.spec("sleeper"));
        start("sleeper", "python3 -c \"%s\"".formatted(HALF_ENDED.formatted(600)));
        await(() -> node.run("sleeper", "grep -l 'Z (zombie)' /proc/[0-9]*/status | wc -l")
                .equals("1"));
        assertThatThrownBy(() -> node.keepers.pause(ID, Keep.MEMORY))
                .hasMessageContaining("while a process with threads is ending in it");
        assertThat(tries.get()).as("tries").isGreaterThan(1);
        assertThat(node.run("sleeper", "echo on")).isEqualTo("on");
    }

    @Test
    void waitsForAProcessThatIsJustEnding() throws Exception {
        var tries = new AtomicInteger();
        reopen(runtime -> new RuntimeAround(runtime) {
            @Override
            public void checkpoint(SandboxId id, Path images, After after) {
                if (tries.incrementAndGet() == 1) {
                    throw new CayException(ErrorKind.CONFLICT, "a process is ending");
                }
                super.checkpoint(id, images, after);
            }
        });
        node.keepers.create(TestNode.spec("sleeper"));
        start("sleeper", COUNTER);
        await(() -> count("sleeper") > 3);
        assertThat(node.keepers.pause(ID, Keep.MEMORY)).isEqualTo(Saved.WHOLE);
        node.keepers.resume(ID, true);
        int count = count("sleeper");
        await(() -> count("sleeper") > count);
        assertThat(tries.get()).isEqualTo(2);
    }

    /// A connection that nobody has accepted cannot be saved. The server inside accepts it after the first try.
    @Test
    void waitsForAConnectionThatIsJustBeingAccepted() throws Exception {
        var tries = new AtomicInteger();
        reopen(runtime -> new RuntimeAround(runtime) {
            @Override
            public void checkpoint(SandboxId id, Path images, After after) {
                tries.incrementAndGet();
                try {
                    super.checkpoint(id, images, after);
                } catch (CayException e) {
                    assertThat(e.userMessage()).contains("(python3) has not accepted a connection");
                    touch(runtime.find(id).orElseThrow().root().resolve("accept"));
                    throw e;
                }
            }
        });
        node.keepers.create(TestNode.spec("sleeper"));
        start("sleeper", """
                exec python3 -c '
                import os, socket, time
                server = socket.create_server(("127.0.0.1", 0)); client = socket.create_connection(server.getsockname())
                open("/waits", "w").close()
                while not os.path.exists("/accept"): time.sleep(0.005)
                accepted = server.accept()[0]
                while True: client.sendall(b"x"); accepted.recv(1); open("/new", "w").write(str(time.time_ns())); os.rename("/new", "/count"); time.sleep(0.02)'
                """.strip());
        await(() -> node.run("sleeper", "ls /").contains("waits"));

        assertThat(node.keepers.pause(ID, Keep.MEMORY)).isEqualTo(Saved.WHOLE);
        node.keepers.resume(ID, true);

        assertThat(tries.get()).isGreaterThan(1);
        String before = node.run("sleeper", "cat /count");
        await(() -> !node.run("sleeper", "cat /count").equals(before));
    }

    private static void touch(Path file) {
        try {
            Files.write(file, new byte[0]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void countCheckpoints(AtomicInteger tries) throws Exception {
        reopen(runtime -> new RuntimeAround(runtime) {
            @Override
            public void checkpoint(SandboxId id, Path images, After after) {
                tries.incrementAndGet();
                super.checkpoint(id, images, after);
            }
        });
    }

    @Test
    void isNotTakenForAnOldSnapshotAfterTheMachineWentDownInASaving() throws Exception {
        var notes = SandboxNotes.folder(place.records(), ID).resolve("sandbox.json");
        var whileSaving = new AtomicReference<String>();
        reopen(runtime -> new RuntimeAround(runtime) {
            @Override
            public void checkpoint(SandboxId id, Path images, After after) {
                change(() -> whileSaving.set(Files.readString(notes)));
                super.checkpoint(id, images, after);
            }
        });
        node.keepers.create(TestNode.spec("sleeper"));
        node.keepers.pause(ID, Keep.MEMORY);
        node.keepers.resume(ID, true);
        await(() -> snapshots() == 0);
        node.keepers.snapshot(ID, "old", Keep.MEMORY);
        assertThat(whileSaving.get()).contains("SAVING");

        node.close();
        node.runc.kill(ID);
        Files.writeString(notes, whileSaving.get());
        var places = node.host.pool().directory("snapshots");
        // It held the sandbox before the resume, and was to be deleted.
        Files.move(places.resolve("old"), places.resolve("sleeper.1"));
        node = new TestNode(place);
        assertThat(node.keepers.find(ID)).isEmpty();
        assertThat(snapshots()).isZero();
    }

    private interface Change {
        void make() throws IOException;
    }

    private static void change(Change change) {
        try {
            change.make();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void saysWhatCannotBeSavedAndGoesOn() throws Exception {
        node.keepers.create(TestNode.spec("sleeper"));
        start(
                "sleeper",
                "exec python3 -c 'import os,time; f=os.pidfd_open(os.getpid()); os.mkdir(\"/tmp/open\"); time.sleep(999)'");
        await(() -> node.run("sleeper", "ls /tmp").contains("open"));
        assertThatThrownBy(() -> node.keepers.pause(ID, Keep.MEMORY)).isInstanceOfSatisfying(CayException.class, e -> {
            assertThat(e.kind()).isEqualTo(ErrorKind.NOT_SAVED);
            assertThat(e.userMessage()).contains("python3");
        });
        assertThat(node.run("sleeper", "echo on")).isEqualTo("on");
        assertThat(node.keepers.find(ID).orElseThrow().saved()).isNull();
        assertThat(snapshots()).isZero();

        var saved = node.keepers.pause(ID, Keep.MEMORY_IF_POSSIBLE);
        assertThat(saved.memory()).isFalse();
        assertThat(saved.loss()).contains("python3");
        node.keepers.resume(ID, true);
        assertThat(node.run("sleeper", "echo on")).isEqualTo("on");
    }

    @Test
    void stopsTheClockOfACommandThatSleeps() throws Exception {
        node.keepers.create(TestNode.spec("sleeper"));
        var events = node.startFor(Duration.ofSeconds(6), "sleeper", "echo $$ > /pid; sleep 9999");
        await(() -> !node.run("sleeper", "cat /pid 2>/dev/null").isEmpty());
        node.keepers.pause(ID, Keep.MEMORY);
        awaitSettled();
        Thread.sleep(Duration.ofSeconds(6));
        node.keepers.resume(ID, true);
        assertThat(node.run("sleeper", "kill -0 $(cat /pid) && echo alive")).isEqualTo("alive");
        await(() -> node.run("sleeper", "kill -0 $(cat /pid) && echo alive").contains("No such process"));
        events.close();
    }

    @Test
    void keepsWatchersThroughAPauseAndARestart() throws Exception {
        node.keepers.create(TestNode.spec("sleeper"));
        String watcher = files("CreateWatcher", "{\"path\":\"/tmp\"}").replaceAll(".*:\"(w\\w+)\".*", "$1");
        String request = "{\"watcherId\":\"%s\"}".formatted(watcher);
        node.keepers.pause(ID, Keep.MEMORY);
        awaitSettled();
        restart();
        node.keepers.resume(ID, true);
        node.run("sleeper", "echo new > /tmp/after");
        await(() -> files("GetWatcherEvents", request).contains("after"));
        files("RemoveWatcher", request);
        restart();
        assertThat(files("GetWatcherEvents", request)).contains("not_found");
    }

    private String files(String call, String message) throws Exception {
        return node.http
                .send(
                        node.request("sleeper", SystemPorts.ENVD, "/filesystem.Filesystem/" + call)
                                .header("Content-Type", "application/json")
                                .POST(HttpRequest.BodyPublishers.ofString(message))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    @Test
    void keepsAProcessWithThreads() throws Exception {
        node.keepers.create(TestNode.spec("sleeper"));
        start(
                "sleeper",
                "exec python3 -c 'import threading,time; [threading.Thread(target=time.sleep, args=(999,)).start() for i in range(4)]'");
        await(() -> threads().equals("5"));
        node.keepers.pause(ID, Keep.MEMORY);
        awaitSettled();
        node.keepers.resume(ID, true);
        assertThat(threads()).isEqualTo("5");
    }

    private String threads() throws Exception {
        return node.run("sleeper", "ls /proc/$(pgrep python3)/task | wc -l");
    }

    @Test
    void keepsTheFilesWhenPowerIsLostBeforeTheDiskHasItAll() throws Exception {
        node.keepers.create(TestNode.spec("sleeper"));
        node.run("sleeper", "echo kept > /file");
        node.keepers.pause(ID, Keep.MEMORY);
        node.close();
        // As if the disk had the sandbox's own files, and nothing yet of the snapshot.
        node.runc.kill(ID);
        var snapshot = node.host.pool().directory("snapshots").resolve("sleeper.1");
        if (!Files.exists(node.host.pool().layer(ID))) {
            node.host.pool().bring(snapshot.resolve("disk"), ID, 200);
        }
        Files.write(snapshot.resolve("about.json"), new byte[0]);
        node = new TestNode(place);

        var saved = node.keepers.find(ID).orElseThrow().saved();
        assertThat(saved.memory()).isFalse();
        assertThat(saved.loss()).contains("lost power");
        node.keepers.resume(ID, true);
        assertThat(node.run("sleeper", "cat /file")).isEqualTo("kept");
    }

    @Test
    void endsWhatIsPaused() throws Exception {
        node.keepers.create(TestNode.spec("sleeper"));
        int slot = slot();
        node.keepers.pause(ID, Keep.MEMORY);
        node.keepers.kill(ID);
        assertThat(node.keepers.find(ID)).isEmpty();
        assertThat(node.traces("sleeper", slot)).isEmpty();
        assertThat(snapshots()).isZero();
        assertThatThrownBy(() -> node.keepers.resume(ID, true)).isInstanceOf(CayException.class);
    }

    private static SandboxSpec copyOf(String id, String snapshot) {
        var spec = TestNode.spec(id);
        return new SandboxSpec(
                spec.id(),
                spec.templateId(),
                spec.layers(),
                spec.resources(),
                Map.of(),
                null,
                "root",
                "/tmp",
                Egress.open(),
                snapshot);
    }

    private void restart() throws Exception {
        reopen(runtime -> runtime);
    }

    private void reopen(UnaryOperator<ContainerRuntime> around) throws Exception {
        node.close();
        node = new TestNode(place, around, TestNode.EDGE_PORT);
    }

    private void start(String id, String script) throws Exception {
        node.start(id, script);
    }

    private int count(String id) throws Exception {
        String text = node.run(id, "tail -n 1 /count");
        return text.isEmpty() || !text.chars().allMatch(Character::isDigit) ? 0 : Integer.parseInt(text);
    }

    private int slot() {
        return node.host.plan().taken() - 1;
    }

    private long snapshots() throws Exception {
        try (var list = Files.list(node.host.pool().directory("snapshots"))) {
            return list.count();
        }
    }

    private void awaitSettled() throws Exception {
        await(() ->
                !Files.exists(node.host.pool().layer(ID)) && node.host.plan().taken() == 0);
    }
}
