package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.Durability;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.Saved;
import dev.cay.wire.node.VolumeContent.Rights;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Sandboxes with volumes are paused, resumed and copied; a pause names what could not be brought back.
@NeedsRoot
final class VolumePauseTest extends VolumeLab {
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

    private void start(String id, String script) throws Exception {
        TestNode.event(node.start(id, script));
    }

    private int count(String id) throws Exception {
        String text = node.run(id, "tail -n 1 /count 2>/dev/null || echo 0");
        return text.isEmpty() ? 0 : Integer.parseInt(text);
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
