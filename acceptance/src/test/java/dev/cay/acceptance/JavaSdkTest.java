package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.OwnCay;
import dev.cay.sdk.Cay;
import dev.cay.sdk.Cell;
import dev.cay.sdk.Command;
import dev.cay.sdk.NewSandbox;
import dev.cay.sdk.Sandbox;
import dev.cay.sdk.SandboxException;
import dev.cay.sdk.SandboxException.Kind;
import dev.cay.sdk.SandboxFilter;
import dev.cay.sdk.SandboxInfo;
import dev.cay.sdk.SecretInfo;
import dev.cay.sdk.Secrets;
import dev.cay.sdk.Settings;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// The life of sandboxes, and what runs in them.
@NeedsRoot
final class JavaSdkTest extends SdkTest {
    @Test
    void livesAndIsFoundAndEnds() {
        String mark = UUID.randomUUID().toString();
        Sandbox sandbox = cay.create(NewSandbox.usual()
                .livingFor(Duration.ofMinutes(2))
                .withMetadata("mark", mark)
                .withEnv("GREETING", "hello you"));
        try (sandbox) {
            assertThat(sandbox.isRunning()).isTrue();
            assertThat(cay.list(SandboxFilter.ALL.with("mark", mark)))
                    .extracting(SandboxInfo::id)
                    .containsExactly(sandbox.id());
            assertThat(sandbox.info().metadata()).containsEntry("mark", mark);
            sandbox.setTimeout(Duration.ofMinutes(10));
            assertThat(sandbox.info().endAt()).isAfter(Instant.now().plus(Duration.ofMinutes(9)));
            assertThat(sandbox.commands().run("echo $GREETING").stdout()).isEqualTo("hello you\n");
            try (var again = cay.connect(sandbox.id())) {
                assertThat(again.commands().run("true").succeeded()).isTrue();
            }
            assertThat(sandbox.isRunning()).as("closing a connection leaves it").isTrue();
        }
        assertThat(sandbox.isRunning()).isFalse();
        assertThat(sandbox.kill()).isFalse();
        assertKind(Kind.NOT_FOUND, () -> cay.info(sandbox.id()));
        assertKind(Kind.NOT_FOUND, () -> cay.connect(sandbox.id()));
    }

    @Test
    void keepsSecretsThatNobodyReadsBack() {
        var made = cay.secrets().create("sdk-key", "value", Map.of(Secrets.HOSTS, "api.example.com"));
        try {
            assertThat(made.version()).isEqualTo(1);
            assertThat(cay.secrets().update("sdk-key", "other").version()).isEqualTo(2);
            assertThat(cay.secrets().find(made.id()).orElseThrow().metadata())
                    .containsEntry(Secrets.HOSTS, "api.example.com");
            assertThat(cay.secrets().list()).extracting(SecretInfo::name).contains("sdk-key");
            assertKind(Kind.INVALID, () -> cay.secrets().create("a b", "value"));
        } finally {
            assertThat(cay.secrets().delete("sdk-key")).isTrue();
        }
        assertThat(cay.secrets().find("sdk-key")).isEmpty();
    }

    @Test
    void livesOnWhenDetachedUntilSomebodyKillsIt() {
        String mark = UUID.randomUUID().toString();
        Sandbox sandbox = cay.create(NewSandbox.usual().withMetadata("mark", mark));
        try (var _ = sandbox.detach()) {
            assertThat(sandbox.url(8000).toString()).isEqualTo("https://" + sandbox.host(8000));
        }
        var marked = SandboxFilter.ALL.with("mark", mark);
        assertThat(cay.list(marked.in(SandboxInfo.State.RUNNING))).hasSize(1);
        assertThat(cay.list(marked.in(SandboxInfo.State.PAUSED))).isEmpty();
        assertThat(cay.kill(sandbox.id())).isTrue();
        assertThat(cay.kill(sandbox.id())).isFalse();
        assertKind(Kind.GONE, () -> sandbox.commands().run("true"));
    }

    @Test
    void sleepsWhenItsTimeIsUpAndWakesWithTheNextCall() throws Exception {
        var wish = NewSandbox.usual().livingFor(Duration.ofSeconds(3)).pausingAndResuming();
        try (var sandbox = cay.create(wish)) {
            sandbox.files().write("kept", "here");
            Await.until("the sandbox pauses", () -> sandbox.info().state() == SandboxInfo.State.PAUSED);
            assertThat(sandbox.files().read("kept")).isEqualTo("here");
            assertThat(sandbox.info().state()).isEqualTo(SandboxInfo.State.RUNNING);
        }
    }

    @Test
    void tellsWhatItUses() throws Exception {
        try (var sandbox = cay.create()) {
            Await.until(
                    "the first measurement of the sandbox",
                    () -> !sandbox.metrics().isEmpty());
            assertThat(sandbox.metrics().getLast()).satisfies(used -> {
                assertThat(used.at()).isAfter(Instant.now().minus(Duration.ofMinutes(2)));
                assertThat(used.cpuCount()).isPositive();
                assertThat(used.memoryUsed()).isPositive().isLessThan(used.memoryTotal());
                assertThat(used.diskUsed()).isLessThan(used.diskTotal());
            });
        }
    }

    @Test
    void isReachedByNamesOverTlsToo() throws Exception {
        try (var sandbox = named.create()) {
            assertThat(sandbox.commands().run("echo hi").stdout()).isEqualTo("hi\n");
            sandbox.files().write("a", "b");
            assertThat(sandbox.files().read("a")).isEqualTo("b");
            assertThat(sandbox.host(3000)).startsWith("3000-" + sandbox.id() + ".");
            sandbox.commands()
                    .start(Command.of("exec python3 -m http.server 3000 --bind 127.0.0.1")
                            .withoutLimit());
            try (var other = cay.create()) {
                String ask = "curl -fsS --retry 20 --retry-all-errors --retry-delay 1 " + sandbox.url(3000) + "/a";
                assertThat(other.commands().run(ask).stdout()).isEqualTo("b");
            }
        }
    }

    @Test
    void tellsHowACommandEnded() {
        try (var sandbox = cay.create()) {
            var failed = sandbox.commands().run("echo out; echo err >&2; exit 7");
            assertThat(failed.exitCode()).isEqualTo(7);
            assertThat(failed.stdout()).isEqualTo("out\n");
            assertThat(failed.stderr()).isEqualTo("err\n");
            var killed = sandbox.commands().run("kill -9 $$");
            assertThat(killed.error()).isEqualTo("signal: killed");
            assertThat(sandbox.commands()
                            .run(Command.of("pwd; whoami; echo $X")
                                    .in("/tmp")
                                    .as("root")
                                    .with("X", "a b")))
                    .returns("/tmp\nroot\na b\n", result -> result.stdout());
            assertKind(
                    Kind.INVALID,
                    () -> sandbox.commands().run(Command.of("true").in("/nowhere")));
            assertKind(
                    Kind.UNAUTHORIZED,
                    () -> sandbox.commands().run(Command.of("true").as("nobody-here")));
            assertKind(
                    Kind.TIMEOUT,
                    () -> sandbox.commands().run(Command.of("sleep 60").within(Duration.ofSeconds(1))));
            assertThat(sandbox.commands().list()).isEmpty();
        }
    }

    @Test
    void followsACommandThatGoesOn() throws Exception {
        try (var sandbox = cay.create()) {
            var heard = new LinkedBlockingQueue<String>();
            try (var cat = sandbox.commands()
                    .start(Command.of("cat").withStdin().withoutLimit().onStdout(heard::add))) {
                cat.send("one\n");
                assertThat(heard.poll(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo("one\n");
                assertThat(sandbox.commands().list())
                        .extracting(info -> info.pid())
                        .containsExactly(cat.pid());
                try (var second = sandbox.commands().connect(cat.pid())) {
                    cat.send("two\n");
                    assertThat(heard.poll(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo("two\n");
                    cat.closeStdin();
                    assertThat(second.await(LIMIT).exitCode()).isZero();
                }
                assertThat(cat.await(LIMIT).stdout()).isEqualTo("one\ntwo\n");
                assertThat(cat.kill()).isFalse();
            }
            try (var complaining = sandbox.commands()
                    .start(Command.of("echo no >&2; sleep 1000").withoutLimit().onStderr(heard::add))) {
                assertThat(heard.poll(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo("no\n");
                assertThat(sandbox.commands().kill(complaining.pid())).isTrue();
                assertThat(complaining.await(LIMIT).error()).isEqualTo("signal: killed");
                assertThat(sandbox.commands().kill(complaining.pid())).isFalse();
            }
            var sleeping = sandbox.commands().start(Command.of("sleep 1000").withoutLimit());
            assertKind(Kind.TIMEOUT, () -> sleeping.await(Duration.ofMillis(200)));
            assertThat(sleeping.kill()).isTrue();
            assertThat(sleeping.await(LIMIT).error()).isEqualTo("signal: killed");
        }
    }

    @Test
    void anInterruptKillsTheCommand() throws Exception {
        try (var sandbox = cay.create()) {
            var failure = new AtomicReference<SandboxException>();
            var interrupted = new CompletableFuture<Boolean>();
            var begun = new CompletableFuture<String>();
            var thread = Thread.ofVirtual().start(() -> {
                try {
                    sandbox.commands().run(Command.of("echo begun; sleep 1000").onStdout(begun::complete));
                } catch (SandboxException e) {
                    failure.set(e);
                }
                interrupted.complete(Thread.currentThread().isInterrupted());
            });
            begun.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            thread.interrupt();
            assertThat(interrupted.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(failure.get().kind()).isEqualTo(Kind.INTERRUPTED);
            assertThat(sandbox.commands().list()).isEmpty();
        }
    }

    /// What runs inside may print without end; this program's memory does not.
    @Test
    void keepsOnlySoMuchOfWhatIsPrinted() {
        try (var sandbox = cay.create()) {
            var heard = new long[1];
            var result = sandbox.commands()
                    .run(Command.of("head -c 3000000 /dev/zero | tr '\\0' x")
                            .keeping(1000)
                            .onStdout(text -> heard[0] += text.length()));
            assertThat(result.stdout()).hasSize(1000);
            assertThat(result.cut()).isTrue();
            assertThat(heard[0]).isEqualTo(3_000_000);
        }
    }

    @Test
    void runsCodeThatRemembers(OwnCay platform) throws Exception {
        platform.awaitTemplate("code-interpreter-v1");
        try (var sandbox = cay.create("code-interpreter-v1")) {
            sandbox.runCode("x = 20");
            var heard = new StringBuilder();
            var execution = sandbox.runCode(
                    Cell.of("print('hi')\n{'a': [x, 1.5]}").with("A", "1").onStdout(heard::append));
            assertThat(heard).hasToString("hi\n");
            assertThat(execution.stdout()).isEqualTo("hi\n");
            assertThat(execution.text()).contains("{'a': [20, 1.5]}");
            assertThat(execution.results().getFirst().json()).contains(Map.of("a", List.of(20, 1.5)));
            assertThat(sandbox.runCode("1/0").error()).returns("ZeroDivisionError", error -> error.name());
            assertThat(sandbox.runCode(Cell.of("[1, 2].length").in("javascript"))
                            .text())
                    .contains("2");
            var picture = sandbox.runCode("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()");
            assertThat(picture.results().getFirst().png())
                    .get()
                    .satisfies(png -> assertThat(png).startsWith((byte) 0x89, 'P', 'N', 'G'));
            var interpreter = sandbox.interpreter();
            var own = interpreter.createContext("python", "/tmp");
            assertThat(interpreter.contexts()).contains(own);
            assertThat(interpreter
                            .run(Cell.of("import os; os.getcwd()").in(own))
                            .text())
                    .contains("/tmp");
            assertThat(interpreter.run(Cell.of("x").in(own)).error()).returns("NameError", error -> error.name());
            interpreter.restart(own);
            interpreter.remove(own);
            assertKind(Kind.NOT_FOUND, () -> interpreter.run(Cell.of("1").in(own)));
            assertKind(
                    Kind.TIMEOUT,
                    () -> sandbox.runCode(Cell.of("import time; time.sleep(60)").within(Duration.ofSeconds(1))));
            assertThat(sandbox.runCode("x").text()).contains("20");
        }
    }

    @Test
    void pausesForksAndKeepsWhatItIs() {
        try (var sandbox = cay.create()) {
            sandbox.commands().run("echo kept > file");
            try (var counting =
                    sandbox.commands().start(Command.of("sleep 1000").withoutLimit())) {
                assertThat(sandbox.pause()).isTrue();
                assertThat(sandbox.pause()).isFalse();
                assertThat(sandbox.info().state()).isEqualTo(SandboxInfo.State.PAUSED);
                sandbox.resume();
                assertThat(sandbox.commands().list())
                        .extracting(info -> info.pid())
                        .containsExactly(counting.pid());
            }
            var copies = sandbox.fork(2, Duration.ofMinutes(5));
            assertThat(copies).hasSize(2);
            for (var copy : copies) {
                try (copy) {
                    assertThat(copy.files().read("file")).isEqualTo("kept\n");
                    assertThat(copy.id()).isNotEqualTo(sandbox.id());
                }
            }
            String snapshot = sandbox.snapshot("java-sdk-" + UUID.randomUUID());
            assertThat(cay.snapshots()).contains(snapshot);
            try (var other = cay.create(snapshot)) {
                assertThat(other.files().read("file")).isEqualTo("kept\n");
            }
            assertThat(cay.removeSnapshot(snapshot)).isTrue();
            assertThat(cay.removeSnapshot(snapshot)).isFalse();
        }
    }

    @Test
    void whatIsWrongIsNamed(OwnCay platform) {
        var wrongKey = new Settings("e2b_00", "x", platform.url(), platform.url(), Duration.ofSeconds(10), null);
        try (var stranger = Cay.with(wrongKey)) {
            assertKind(Kind.UNAUTHORIZED, stranger::list);
        }
        assertKind(Kind.NOT_FOUND, () -> cay.create("no-such-template"));
        var nobody = Settings.of(platform.key(), "x")
                .withUrls(URI.create("http://127.0.0.1:1"), URI.create("http://127.0.0.1:1"));
        try (var nowhere = Cay.with(nobody)) {
            assertKind(Kind.UNAVAILABLE, nowhere::create);
        }
    }

    @Test
    void manyThreadsUseOne() throws Exception {
        try (var sandbox = cay.create();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var results = IntStream.range(0, 50)
                    .mapToObj(i -> threads.submit(
                            () -> sandbox.commands().run("echo " + i).stdout().strip()))
                    .toList();
            for (int i = 0; i < 50; i++) {
                assertThat(results.get(i).get(LIMIT.toSeconds(), TimeUnit.SECONDS))
                        .isEqualTo("" + i);
            }
        }
    }
}
