package dev.cay.node.process;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.cay.node.guest.Exit;
import dev.cay.node.guest.GuestLink;
import dev.cay.node.guest.Streams;
import dev.cay.node.guest.TestSandbox;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.process.ProcessInfo;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@NeedsRoot
class ProcessTableTest {
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final ProcessSettings SETTINGS =
            new ProcessSettings(1 << 20, Duration.ofSeconds(2), Duration.ofSeconds(30), Duration.ofSeconds(5));

    private TestSandbox sandbox;
    private GuestLink link;
    private ProcessTable table;

    @BeforeEach
    void start() throws Exception {
        sandbox = new TestSandbox();
        open(SETTINGS);
    }

    @AfterEach
    void stop() throws Exception {
        table.close();
        link.close();
        sandbox.close();
    }

    private void open(ProcessSettings settings) throws IOException {
        link = sandbox.link();
        table = new ProcessTable(sandbox.directory().resolve("processes"), link, sandbox.workers(), settings);
        table.adopt();
    }

    private void reopen() throws IOException {
        table.close();
        link.close();
        open(SETTINGS);
    }

    @Test
    void aGuestThatDoesNotAnswerIsUnavailableAndNotABug() throws Exception {
        link.close();
        assertThatThrownBy(() -> table.start(shell("true")))
                .asInstanceOf(type(CayException.class))
                .extracting(CayException::kind)
                .isEqualTo(ErrorKind.UNAVAILABLE);
    }

    static Launch shell(String script) {
        return launch(script, null, false, null, null);
    }

    private static Launch launch(
            String script, Launch.@Nullable TerminalSize terminal, boolean stdin, @Nullable String tag) {
        return launch(script, terminal, stdin, tag, null);
    }

    private static Launch launch(
            String script,
            Launch.@Nullable TerminalSize terminal,
            boolean stdin,
            @Nullable String tag,
            @Nullable Duration limit) {
        return new Launch(
                List.of("/bin/sh", "-c", script),
                Map.of("PATH", "/usr/bin:/bin"),
                Map.of(),
                "/tmp",
                "root",
                0,
                0,
                List.of(),
                terminal,
                stdin,
                tag,
                limit);
    }

    /// Everything a subscription brings until the end.
    private record Heard(Map<Channel, ByteArrayOutputStream> output, List<Channel> order, Exit exit) {
        String text(Channel channel) {
            return new String(bytes(channel), UTF_8);
        }

        byte[] bytes(Channel channel) {
            var heard = output.get(channel);
            return heard == null ? new byte[0] : heard.toByteArray();
        }
    }

    private static Heard listen(Subscription subscription) throws Exception {
        var output = new EnumMap<Channel, ByteArrayOutputStream>(Channel.class);
        var order = new ArrayList<Channel>();
        while (true) {
            switch (subscription.next(LIMIT)) {
                case Output.Data(var channel, var offset, var bytes) -> {
                    assertThat(offset).isNotNegative();
                    output.computeIfAbsent(channel, _ -> new ByteArrayOutputStream())
                            .writeBytes(bytes.toByteArray());
                    order.add(channel);
                    subscription.sent();
                }
                case Output.End(var exit) -> {
                    return new Heard(output, order, exit);
                }
                case Output.Silence() -> throw new AssertionError("nothing came");
            }
        }
    }

    private Heard run(Launch launch) throws Exception {
        try (var subscription = table.start(launch)) {
            return listen(subscription);
        }
    }

    @Test
    void letsGoOfAProcessWhosePidHasAnotherOwner() throws Exception {
        var workers = sandbox.workers();
        var state = new TableState();
        state.open(new Cursors(sandbox.directory().resolve("cursors")));
        var terminals = new SharedTerminals(workers, _ -> {});
        var parts = new TableParts(new GuestRequests(link), workers, SETTINGS, state, terminals, () -> 0);
        var known = new KnownProcesses(parts, (_, _) -> {});
        var streams = parts.guest().spawn(shell("sleep 600"), 98);
        var first = Subscription.to(register(known, 98, streams.pid(), streams));
        register(known, 99, streams.pid(), null);
        known.close(false);
        assertThatThrownBy(() -> first.next(LIMIT)).hasMessageContaining("is being stopped");
    }

    private SandboxProcess register(KnownProcesses known, long number, int pid, @Nullable Streams streams) {
        var folder = ProcessFolder.in(sandbox.directory().resolve("processes"), number);
        var about = new ProcessFolder.About(ProcessInfo.getDefaultInstance(), "root", false, null, 0);
        var logs = OutputLog.logs(folder.path(), SETTINGS.logBytes(), false);
        return known.register(folder, about, logs, pid, streams);
    }

    @Test
    void killsAProcessWhoseTimeIsUp() throws Exception {
        try (var subscription = table.start(launch("echo on; sleep 600", null, false, null, Duration.ofMillis(300)))) {
            assertThat(listen(subscription).exit().signal()).isEqualTo(9);
        }
    }

    @Test
    void killsAProcessWhoseTimeEndsInAnotherDaemonsLife() throws Exception {
        try (var _ = table.start(launch("sleep 600", null, false, "later", Duration.ofSeconds(2)));
                var _ = table.start(launch("sleep 600", null, false, "passed", Duration.ofMillis(150)));
                var _ = table.start(launch("sleep 600", null, false, "never", null))) {
            table.close();
            link.close();
        }
        long began = System.nanoTime();
        TimeUnit.MILLISECONDS.sleep(200); // The deadline must pass while no daemon is there.
        open(SETTINGS);

        try (var passed = Subscription.to(table.require(new Selector.Tag("passed")))) {
            assertThat(listen(passed).exit().signal()).isEqualTo(9);
        }
        assertThat(table.require(new Selector.Tag("later")).running())
                .as("its time is not up")
                .isTrue();
        try (var later = Subscription.to(table.require(new Selector.Tag("later")))) {
            assertThat(listen(later).exit().signal()).isEqualTo(9);
        }
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(Duration.ofSeconds(1));
        assertThat(table.require(new Selector.Tag("never")).running()).isTrue();
    }

    /// A closed table knows nobody who could be killed: its timers would speak to a link that is gone.
    @Test
    void forgetsItsDeadlinesWhenItIsClosed() throws Exception {
        try (var _ = table.start(launch("sleep 600", null, false, null, Duration.ofMillis(400)))) {
            table.close();
            link.close();
        }
        assertThat(sandbox.poller().timers()).isZero();
    }

    @Test
    void deliversBothStreamsAndTheExitStatus() throws Exception {
        var heard = run(shell("echo out; echo err >&2; exit 3"));

        assertThat(heard.text(Channel.STDOUT)).isEqualTo("out\n");
        assertThat(heard.text(Channel.STDERR)).isEqualTo("err\n");
        assertThat(heard.exit().status()).isEqualTo("exit status 3");
    }

    @Test
    void deliversMuchOutputWholeAndInOrder() throws Exception {
        var heard = run(shell("seq 1 400000"));

        var expected = new StringBuilder();
        for (int i = 1; i <= 400_000; i++) {
            expected.append(i).append('\n');
        }
        assertThat(heard.text(Channel.STDOUT).equals(expected.toString())).isTrue();
    }

    @Test
    void keepsTheOrderOfArrivalBetweenTheStreams() throws Exception {
        try (var subscription =
                table.start(launch("while read x; do echo $x; read y; echo $y >&2; done", null, true, null))) {
            var input = subscription.process().input();
            for (int i = 0; i < 20; i++) {
                for (Channel channel : List.of(Channel.STDOUT, Channel.STDERR)) {
                    input.writeStdin("x\n".getBytes(UTF_8));
                    assertThat(subscription.next(LIMIT))
                            .isInstanceOfSatisfying(
                                    Output.Data.class,
                                    data -> assertThat(data.channel()).isEqualTo(channel));
                }
            }
            input.closeStdin();
            input.closeStdin();
            assertThat(listen(subscription).exit().success()).isTrue();
        }
    }

    @Test
    void givesATerminalItsSizeAndEndsWithIt() throws Exception {
        try (var subscription =
                table.start(launch("stty size; read x; stty size", new Launch.TerminalSize(80, 24), false, null))) {
            assertThat(subscription.next(LIMIT))
                    .isInstanceOfSatisfying(
                            Output.Data.class,
                            data -> assertThat(data.bytes().toStringUtf8()).isEqualTo("24 80\r\n"));
            subscription.process().resize(new Launch.TerminalSize(100, 30));
            subscription.process().input().writeTerminal("\n".getBytes(UTF_8));
            var heard = listen(subscription);
            assertThat(heard.text(Channel.PTY)).endsWith("30 100\r\n");
            assertThat(heard.exit().success()).isTrue();
            assertThatThrownBy(() -> subscription.process().input().writeStdin(new byte[1]))
                    .isInstanceOf(CayException.class);
        }
    }

    @Test
    void waitsForABackgroundChildThatHoldsThePipe() throws Exception {
        var heard = run(shell("(sleep 0.3; echo late) & echo early"));

        assertThat(heard.text(Channel.STDOUT)).isEqualTo("early\nlate\n");
    }

    @Test
    void doesNotWaitForChildrenOfAKilledProcess() throws Exception {
        try (var subscription = table.start(shell("sleep 1000 & echo $!; wait"))) {
            subscription.next(LIMIT);
            subscription.process().signal(SandboxProcess.SIGKILL);
            assertThat(table.list()).isEmpty();

            var exit = listen(subscription).exit();

            assertThat(exit.status()).isEqualTo("signal: killed");
            assertThat(exit.code()).isEqualTo(-1);
            assertThatThrownBy(() -> subscription.process().signal(SandboxProcess.SIGKILL))
                    .hasMessage(
                            "process with pid %d not found",
                            subscription.process().pid());
        }
    }

    @Test
    void saysWhyAProcessCannotStart() {
        var missing = new Launch(
                List.of("/nowhere"), Map.of(), Map.of(), "/tmp", "root", 0, 0, List.of(), null, false, null, null);
        assertThatThrownBy(() -> table.start(missing))
                .hasMessageStartingWith("error starting process '/nowhere'")
                .hasMessageContaining("no such file");
        var lost = new Launch(
                List.of("/bin/true"), Map.of(), Map.of(), "/nowhere", "root", 0, 0, List.of(), null, false, null, null);
        assertThatThrownBy(() -> table.start(lost)).hasMessage("cwd '/nowhere' does not exist");
    }

    @Test
    void showsALateSubscriberOnlyWhatIsNew() throws Exception {
        try (var first = table.start(launch("echo old; read x; echo new", null, true, "t"))) {
            first.next(LIMIT);
            try (var second = Subscription.to(table.require(new Selector.Tag("t")))) {
                first.process().input().writeStdin("\n".getBytes(UTF_8));
                assertThat(listen(second).text(Channel.STDOUT)).isEqualTo("new\n");
                assertThat(listen(first).text(Channel.STDOUT)).isEqualTo("new\n");
            }
            try (var third = Subscription.to(first.process(), Map.of(Channel.STDOUT, 0L))) {
                assertThat(listen(third).text(Channel.STDOUT)).isEqualTo("old\nnew\n");
            }
        }
    }

    @Test
    void letsOutputFlowOnWhenNobodyListens() throws Exception {
        var subscription = table.start(shell("head -c 5000000 /dev/zero; echo done"));
        subscription.close();
        // The end of the output may come after the exit, and the oldest part gives way to it.
        Await.until("the process ends", () -> subscription.process().isOver());

        try (var late = Subscription.to(subscription.process(), Map.of(Channel.STDOUT, 0L))) {
            var heard = listen(late);
            assertThat(heard.text(Channel.STDOUT)).endsWith("done\n");
            assertThat(heard.bytes(Channel.STDOUT).length).isBetween(1 << 20, 3 << 19);
        }
    }

    @Test
    void makesTheProcessWaitForASlowSubscriberAndThenCutsItOff() throws Exception {
        try (var slow = table.start(shell("head -c 3000000 /dev/zero; echo done"))) {
            assertThat(slow.next(LIMIT)).isInstanceOf(Output.Data.class);
            assertThat(slow.process().running()).isTrue();
            Await.until(
                    "the process of the slow reader ends", () -> !slow.process().running());

            assertThatThrownBy(() -> slow.next(LIMIT)).hasMessageContaining("was not read");
        }
    }

    @Test
    void goesOnWithoutGapOrDoubleAfterTheDaemonIsGone() throws Exception {
        var text = new ByteArrayOutputStream();
        var subscription = table.start(shell("i=0; while [ $i -lt 60000 ]; do i=$((i+1)); echo $i; done; echo end"));
        int pid = subscription.process().pid();
        for (int life = 0; life < 6; life++) {
            for (int pieces = 0; pieces < 3; pieces++) {
                if (subscription.next(LIMIT) instanceof Output.Data data) {
                    text.writeBytes(data.bytes().toByteArray());
                    subscription.sent();
                }
            }
            // No unsubscribing: this is how a killed daemon leaves.
            reopen();
            var process = table.require(new Selector.Pid(pid));
            assertThat(process.info().getConfig().getCmd()).isEqualTo("/bin/sh");
            subscription = Subscription.to(process);
        }
        text.writeBytes(listen(subscription).bytes(Channel.STDOUT));

        var lines = text.toString(UTF_8).lines().toList();
        assertThat(lines).hasSize(60_001).endsWith("end");
        for (int i = 0; i < 60_000; i++) {
            assertThat(lines.get(i)).isEqualTo(Integer.toString(i + 1));
        }
    }

    @Test
    void remembersHowAProcessEndedAcrossARestart() throws Exception {
        int pid;
        try (var subscription = table.start(shell("echo bye; exit 7"))) {
            pid = subscription.process().pid();
            listen(subscription);
        }
        Await.until("the table forgets the process", () -> forgotten(pid));
        reopen();

        assertThat(table.list()).isEmpty();
        try (var late = Subscription.to(table.require(new Selector.Pid(pid)))) {
            assertThat(late.next(LIMIT)).isEqualTo(new Output.End(new Exit(7, 0, false)));
        }
    }

    private boolean forgotten(int pid) {
        try {
            return link.list().stream().noneMatch(process -> process.pid() == pid);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void runsManyAtOnceAndLeaksNoDescriptor() throws Exception {
        run(shell("true"));
        int before = TestSandbox.descriptors().size();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var all = new ArrayList<java.util.concurrent.Future<Heard>>();
            for (int i = 0; i < 300; i++) {
                int number = i;
                all.add(threads.submit(() -> run(shell("echo " + number))));
            }
            for (int i = 0; i < 300; i++) {
                assertThat(all.get(i).get(1, TimeUnit.MINUTES).text(Channel.STDOUT))
                        .isEqualTo(i + "\n");
            }
        }
        // How each ended is still being written down.
        Await.until(
                "descriptors of ended processes are closed",
                () -> TestSandbox.descriptors().size() <= before);
        assertThat(table.list()).isEmpty();
    }
}
