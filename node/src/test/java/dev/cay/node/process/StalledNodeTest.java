package dev.cay.node.process;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.life.Undo;
import dev.cay.node.guest.TestSandbox;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Root inside takes the descriptors of pid 1 and makes them block: the node must not wait with them.
@Timeout(180)
@NeedsRoot
class StalledNodeTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /// More than the threads of a test sandbox and those that replace lost ones.
    private static final int MANY = 12;

    private static final ProcessSettings SETTINGS =
            new ProcessSettings(1 << 20, Duration.ofSeconds(30), Duration.ofSeconds(30), Duration.ofSeconds(10));

    private static final String TAKE_AND_BLOCK = """
            import ctypes, fcntl, os
            pid1 = os.pidfd_open(1)
            getfd = ctypes.CDLL(None, use_errno=True).syscall
            taken = 0
            for number in range(3, 400):
                mine = getfd(438, pid1, number, 0)
                if mine < 0:
                    continue
                name = os.readlink(f"/proc/self/fd/{mine}")
                if name.startswith("pipe:") or "ptmx" in name:
                    fcntl.fcntl(mine, fcntl.F_SETFL, fcntl.fcntl(mine, fcntl.F_GETFL) & ~os.O_NONBLOCK)
                    taken += 1
            print("taken", taken)
            """;

    private static Launch launch(List<String> command, boolean stdin) {
        return new Launch(
                command,
                Map.of("PATH", "/usr/bin:/bin"),
                Map.of(),
                "/tmp",
                "root",
                0,
                0,
                List.of(),
                null,
                stdin,
                null,
                null);
    }

    private static String output(ProcessTable table, Launch launch, String input) throws Exception {
        try (var subscription = table.start(launch)) {
            if (!input.isEmpty()) {
                subscription.process().input().writeStdin(input.getBytes(UTF_8));
            }
            var text = new StringBuilder();
            while (subscription.next(LIMIT) instanceof Output.Data data) {
                text.append(data.bytes().toStringUtf8());
                subscription.sent();
            }
            return text.toString();
        }
    }

    /// A table on the threads of the first sandbox.
    private static ProcessTable table(Undo closing, TestSandbox sandbox, TestSandbox host) throws Exception {
        var link = closing.add(sandbox.link());
        var table =
                closing.add(new ProcessTable(sandbox.directory().resolve("processes"), link, host.workers(), SETTINGS));
        table.adopt();
        return table;
    }

    @Test
    void pipesThatASandboxMakesBlockStallNobody() throws Exception {
        try (var closing = new Undo()) {
            var hostile = closing.add(new TestSandbox());
            var honest = closing.add(new TestSandbox());
            var theirs = table(closing, hostile, hostile);
            var ours = table(closing, honest, hostile);
            var sleepers = new ArrayList<Subscription>();
            for (int i = 0; i < MANY; i++) {
                sleepers.add(closing.add(theirs.start(launch(List.of("sleep", "1000"), true))));
            }
            assertThat(output(theirs, launch(List.of("python3", "-I", "-c", TAKE_AND_BLOCK), false), ""))
                    .isEqualTo("taken %d\n".formatted(MANY * 3 + 2));
            var writers = closing.add(Executors.newVirtualThreadPerTaskExecutor());
            var failures = new ArrayList<Future<String>>();
            for (var sleeper : sleepers) {
                failures.add(writers.submit(() -> writeTooMuch(sleeper)));
            }
            for (int i = 0; i < 20; i++) {
                assertThat(output(ours, launch(List.of("head", "-n", "1"), true), "still here\n"))
                        .isEqualTo("still here\n");
            }
            for (var failure : failures) {
                assertThat(failure.get(60, TimeUnit.SECONDS)).isEqualTo("the process does not read its input");
            }
        }
    }

    /// How it failed: a call that blocks is given up earlier, and in other words.
    private static String writeTooMuch(Subscription sleeper) throws IOException {
        try {
            sleeper.process().input().writeStdin(new byte[1 << 20]);
            return "all was written";
        } catch (CayException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /// Ends the sandbox whose terminal blocks, and none of those that share the threads with it.
    @Test
    void aTerminalOfAnOlderGuestThatBlocksEndsItsSandboxAlone() throws Exception {
        byte[] older = TestSandbox.guestOf(2);
        try (var closing = new Undo()) {
            var hostile = closing.add(new TestSandbox(older));
            var honest = closing.add(new TestSandbox(older));
            var theirs = table(closing, hostile, hostile);
            var ours = table(closing, honest, hostile);
            var ended = new CountDownLatch(1);
            theirs.onLost(_ -> ended.countDown());
            var lost = new CompletableFuture<String>();
            ours.onLost(lost::complete);
            var sleepers = new ArrayList<Subscription>();
            for (int i = 0; i < MANY; i++) {
                sleepers.add(closing.add(
                        theirs.start(ProcessTerminalTest.terminal("stty raw -echo; echo raw; sleep 1000"))));
                assertThat(sleepers.get(i).next(LIMIT)).isInstanceOf(Output.Data.class);
            }
            assertThat(output(theirs, launch(List.of("python3", "-I", "-c", TAKE_AND_BLOCK), false), ""))
                    .startsWith("taken ");
            var writers = closing.add(Executors.newVirtualThreadPerTaskExecutor());
            for (var sleeper : sleepers) {
                writers.execute(() -> assertThatThrownBy(
                                () -> sleeper.process().input().writeTerminal(new byte[1 << 20]))
                        .isNotNull());
            }
            for (int i = 0; i < 20; i++) {
                try (var asked = ours.start(ProcessTerminalTest.terminal("read x; echo got $x"))) {
                    asked.process().input().writeTerminal("this\n".getBytes(UTF_8));
                    var text = new StringBuilder();
                    while (asked.next(LIMIT) instanceof Output.Data data) {
                        text.append(data.bytes().toStringUtf8());
                        asked.sent();
                    }
                    assertThat(text).endsWith("got this\r\n");
                }
            }
            assertThat(ended.await(60, TimeUnit.SECONDS))
                    .as("the sandbox that blocks is given up")
                    .isTrue();
            assertThat(lost).as("the other one is not").isNotDone();
            // What the keeper does then.
            hostile.close();
        }
    }
}
