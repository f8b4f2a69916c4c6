package dev.cay.node.sandbox;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.Saved;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// runc or CRIU are killed while a sandbox is saved or brought back: it goes on, and the next try succeeds.
@NeedsRoot
class BrokenToolsTest extends NodeTest {
    private static final SandboxId ID = new SandboxId("victim");

    /// Holds what a dump takes some time for, in a process with threads, and tells it by HTTP.
    private static final String SERVER = """
            exec python3 -c '
            import hashlib, http.server, os, threading, time
            held = bytearray(os.urandom(1 << 20) * 80)
            for i in range(3): threading.Thread(target=time.sleep, args=(9999,), daemon=True).start()
            class Tell(http.server.BaseHTTPRequestHandler):
                def do_GET(self):
                    text = ("%d %s" % (os.getpid(), hashlib.sha256(held).hexdigest())).encode()
                    self.send_response(200); self.send_header("Content-Length", str(len(text))); self.end_headers()
                    self.wfile.write(text)
                def log_message(self, *rest): pass
            http.server.ThreadingHTTPServer(("127.0.0.1", 8000), Tell).serve_forever()'
            """;

    /// A connection inside that is open all the time.
    private static final String TALK = """
            exec python3 -c '
            import http.client, time
            held = http.client.HTTPConnection("127.0.0.1", 8000)
            while True:
                held.request("GET", "/"); said = held.getresponse().read().decode()
                open("/said.new", "w").write(said + " " + str(time.time()))
                import os; os.rename("/said.new", "/said"); time.sleep(0.05)'
            """;

    private static final String LOOPBACK = """
            exec python3 -c '
            import socket
            inn = socket.create_server(("127.0.0.1", 0)); out = socket.create_connection(inn.getsockname(), 5)
            out.sendall(b"heard"); print(inn.accept()[0].recv(5).decode())'
            """.strip();

    private static final int MOST_TRIES = 10;

    private String told;
    private String real;

    @BeforeEach
    void fill() throws Exception {
        node.keepers.create(TestNode.spec("victim"));
        node.start("victim", SERVER.strip());
        await(() -> node.get("victim", 8000, "/").statusCode() == 200);
        told = node.get("victim", 8000, "/").body();
        node.start("victim", TALK.strip());
        assertUnharmed();
    }

    @ParameterizedTest(name = "when {0} is there")
    @ValueSource(strings = {"inventory.img", "pages-1.img"})
    void goesOnUnharmedWhenRuncDiesInADump(String image) throws Exception {
        cut("runc", image);
        assertUnharmed();
        assertPauses();
        assertUnharmed();
    }

    /// A process that CRIU makes run its own code at that very moment may die of it, which nobody can help; all others
    /// go on, and so do their connections.
    @ParameterizedTest(name = "when {0} is there")
    @ValueSource(strings = {"inventory.img", "core-1.img", "pages-1.img", "mountpoints-"})
    void goesOnWhenCriuDiesInADump(String image) throws Exception {
        cut("criu", image);
        assertThat(node.run("victim", LOOPBACK)).isEqualTo("heard");
        assertPauses();
        assertThat(node.run("victim", LOOPBACK)).isEqualTo("heard");
    }

    /// Some images are written when a dump is all but done: who comes too late to kill it waits for the next one.
    private void cut(String tool, String image) throws Exception {
        var killed = killOnce(tool, "checkpoint", image);
        for (int tries = 0; tries < MOST_TRIES; tries++) {
            try {
                node.keepers.pause(ID, Keep.MEMORY);
            } catch (CayException e) {
                assertThat(killed.get(1, TimeUnit.MINUTES)).isTrue();
                return;
            }
            node.keepers.resume(ID, true);
            await(() -> !isThere(image));
            killed = killed.isDone() ? killOnce(tool, "checkpoint", image) : killed;
        }
        throw new AssertionError("all dumps were done, whether %s was killed or not".formatted(tool));
    }

    private void assertPauses() throws Exception {
        assertThat(node.keepers.pause(ID, Keep.MEMORY)).isEqualTo(Saved.WHOLE);
        gone();
        node.keepers.resume(ID, true);
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"criu", "runc"})
    void comesBackWhenARestoreIsCut(String tool) throws Exception {
        node.keepers.pause(ID, Keep.MEMORY);
        gone();
        var killed = killOnce(tool, "restore", "restore.log");
        node.keepers.resume(ID, true);
        assertThat(killed.get(1, TimeUnit.MINUTES)).isTrue();
        assertUnharmed();
    }

    /// CRIU says so when a busy machine did not let it stop all processes in time.
    @Test
    void savesOnceMoreWhenNotEverythingCouldBeStopped() throws Exception {
        Path criu = criuThatIsLateOnce();
        try {
            assertPauses();
            assertUnharmed();
            assertThat(late()).exists();
        } finally {
            Files.writeString(criu, real);
        }
    }

    private Path criuThatIsLateOnce() throws IOException {
        try (var found = Files.find(place.directory().resolve("state/guest"), 2, (path, _) -> path.endsWith("criu"))) {
            Path criu = found.findFirst().orElseThrow();
            real = Files.readString(criu);
            Path log = place.directory().resolve("run/bundles/victim/criu/dump.log");
            Files.writeString(criu, """
                    #!/bin/sh
                    if [ ! -e '%1$s' ]; then
                        touch '%1$s'
                        echo '(10.01) Error (criu/seize.c:1): Timeout reached. Try to interrupt: 0' > '%2$s'
                        exit 1
                    fi
                    """.formatted(late(), log) + real.replace("#!/bin/sh\n", ""));
            return criu;
        }
    }

    private Path late() {
        return place.directory().resolve("criu-was-late");
    }

    /// The same process with the same memory, and a connection that still works.
    private void assertUnharmed() throws Exception {
        assertThat(node.get("victim", 8000, "/").body()).isEqualTo(told);
        String before = node.run("victim", "cat /said");
        await(() -> {
            String now = node.run("victim", "cat /said");
            return now.startsWith(told) && !now.equals(before);
        });
    }

    private void gone() throws Exception {
        await(() -> !Files.exists(node.host.pool().layer(ID)));
    }

    private CompletableFuture<Boolean> killOnce(String tool, String doing, String file) {
        return CompletableFuture.supplyAsync(
                () -> {
                    long deadline = System.nanoTime() + TestNode.LIMIT.toNanos();
                    while (System.nanoTime() < deadline) {
                        if (isThere(file)) {
                            var found = ours(tool, doing);
                            found.forEach(ProcessHandle::destroyForcibly);
                            if (!found.isEmpty()) {
                                return true;
                            }
                        }
                    }
                    return false;
                },
                task -> Thread.ofPlatform().start(task));
    }

    private boolean isThere(String file) {
        for (Path places : List.of(
                node.host.pool().directory("snapshots"), place.directory().resolve("run/bundles"))) {
            try (var found = Files.find(
                    places, 3, (path, _) -> path.getFileName().toString().startsWith(file))) {
                if (found.findAny().isPresent()) {
                    return true;
                }
            } catch (IOException | UncheckedIOException e) {
                // It changes while we look.
            }
        }
        return false;
    }

    private List<ProcessHandle> ours(String tool, String doing) {
        return ProcessHandle.allProcesses()
                .filter(process -> isOurs(tool.equals("criu") ? process.parent().orElse(process) : process, doing))
                .filter(process -> read(process.pid(), "comm").strip().equals(tool))
                .toList();
    }

    private boolean isOurs(ProcessHandle process, String doing) {
        String line = read(process.pid(), "cmdline");
        return line.contains("\0" + doing + "\0")
                && line.contains(place.directory().toString());
    }

    private static String read(long pid, String file) {
        try {
            return Files.readString(Path.of("/proc/" + pid, file), ISO_8859_1);
        } catch (IOException gone) {
            return "";
        }
    }
}
