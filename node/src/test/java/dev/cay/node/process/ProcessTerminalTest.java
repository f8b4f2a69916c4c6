package dev.cay.node.process;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.guest.Exit;
import dev.cay.node.guest.GuestLink;
import dev.cay.node.guest.TestSandbox;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Terminals behave the same whether the guest copies them or, being an older one, shares them.
@Timeout(180)
@NeedsRoot
class ProcessTerminalTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final ProcessSettings SETTINGS =
            new ProcessSettings(1 << 20, Duration.ofMinutes(1), Duration.ofSeconds(30), Duration.ofSeconds(2));

    private TestSandbox sandbox;
    private GuestLink link;
    private ProcessTable table;

    @AfterEach
    void stop() throws Exception {
        table.close();
        link.close();
        sandbox.close();
    }

    private void start(int version) throws Exception {
        sandbox = version == 3 ? new TestSandbox() : new TestSandbox(TestSandbox.guestOf(version));
        open();
    }

    private void open() throws IOException {
        link = sandbox.link();
        table = new ProcessTable(sandbox.directory().resolve("processes"), link, sandbox.workers(), SETTINGS);
        table.adopt();
    }

    static Launch terminal(String script) {
        return new Launch(
                List.of("/bin/sh", "-c", script),
                Map.of("PATH", "/usr/bin:/bin"),
                Map.of(),
                "/tmp",
                "root",
                0,
                0,
                List.of(),
                new Launch.TerminalSize(80, 24),
                false,
                null,
                null);
    }

    private record Heard(String text, Exit exit) {}

    private static Heard listen(Subscription subscription) throws Exception {
        var text = new ByteArrayOutputStream();
        while (true) {
            switch (subscription.next(LIMIT)) {
                case Output.Data data -> {
                    text.writeBytes(data.bytes().toByteArray());
                    subscription.sent();
                }
                case Output.End(var exit) -> {
                    return new Heard(text.toString(UTF_8), exit);
                }
                case Output.Silence() -> throw new AssertionError("nothing came");
            }
        }
    }

    private static void awaitFile(Path file) {
        Await.until("the file %s exists".formatted(file), () -> Files.exists(file));
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void allThatWasPrintedComesBeforeTheEnd(int version) throws Exception {
        start(version);
        for (int round = 0; round < 5; round++) {
            try (var subscription = table.start(terminal("seq 1 20000; exit 7"))) {
                var heard = listen(subscription);
                assertThat(heard.text().lines()).hasSize(20_000).endsWith("20000");
                assertThat(heard.exit().code()).isEqualTo(7);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void whatAKilledProcessPrintedIsHeard(int version) throws Exception {
        start(version);
        for (int round = 0; round < 5; round++) {
            Path mark = sandbox.directory().resolve("printed" + round);
            String script = "seq 1 20000; touch %s; sleep 1000".formatted(mark);
            try (var subscription = table.start(terminal(script))) {
                awaitFile(mark);
                subscription.process().signal(SandboxProcess.SIGKILL);
                var heard = listen(subscription);
                assertThat(heard.text().lines()).hasSize(20_000).endsWith("20000");
                assertThat(heard.exit().status()).isEqualTo("signal: killed");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void inputWaitsForAProcessThatDoesNotReadAndOthersGoOn(int version) throws Exception {
        start(version);
        Path mark = sandbox.directory().resolve("raw");
        try (var subscription = table.start(terminal("stty raw -echo; touch %s; sleep 1000".formatted(mark)))) {
            awaitFile(mark);
            assertThatThrownBy(() -> subscription.process().input().writeTerminal(new byte[1 << 20]))
                    .hasMessage("the process does not read its input");
            try (var other = table.start(terminal("read x; echo got $x"))) {
                other.process().input().writeTerminal("this\n".getBytes(UTF_8));
                assertThat(listen(other).text()).endsWith("got this\r\n");
            }
            subscription.process().signal(SandboxProcess.SIGKILL);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void muchInputArrivesWholeAndIsEchoed(int version) throws Exception {
        start(version);
        Path mark = sandbox.directory().resolve("raw");
        try (var subscription =
                table.start(terminal("stty raw -echo; touch %s; head -c 300000 | cksum".formatted(mark)))) {
            awaitFile(mark);
            subscription.process().input().writeTerminal(new byte[300_000]);
            assertThat(listen(subscription).text()).contains("2913298395 300000");
        }
        try (var subscription = table.start(terminal("read x; echo \"[$x]\""))) {
            subscription.process().input().writeTerminal("word\n".getBytes(UTF_8));
            assertThat(listen(subscription).text()).isEqualTo("word\r\n[word]\r\n");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void outputWaitsForASlowReaderAndOthersGoOn(int version) throws Exception {
        start(version);
        try (var slow = table.start(terminal("head -c 3000000 /dev/zero | tr '\\0' x"))) {
            assertThat(slow.next(LIMIT)).isInstanceOf(Output.Data.class);
            try (var other = table.start(terminal("echo here"))) {
                assertThat(listen(other).text()).isEqualTo("here\r\n");
            }
            assertThat(slow.process().running()).as("it waits for its reader").isTrue();
            slow.sent();
            assertThat(listen(slow).text().length()).isBetween(3_000_000 - (64 << 10), 3_000_000);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void goesOnWithoutGapAfterTheDaemonIsGone(int version) throws Exception {
        start(version);
        var text = new StringBuilder();
        var subscription = table.start(terminal("seq 1 60000; echo end"));
        int pid = subscription.process().pid();
        for (int life = 0; life < 4; life++) {
            for (int pieces = 0; pieces < 3; pieces++) {
                if (subscription.next(LIMIT) instanceof Output.Data data) {
                    text.append(data.bytes().toStringUtf8());
                    subscription.sent();
                }
            }
            table.close();
            link.close();
            open();
            subscription = Subscription.to(table.require(new Selector.Pid(pid)));
        }
        text.append(listen(subscription).text());
        var lines = text.toString().lines().toList();
        assertThat(lines).hasSize(60_001).endsWith("end");
        for (int i = 0; i < 60_000; i++) {
            assertThat(lines.get(i)).isEqualTo(Integer.toString(i + 1));
        }
    }
}
