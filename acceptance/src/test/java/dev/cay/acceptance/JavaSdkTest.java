package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.bench.OwnCay;
import dev.cay.sdk.Cay;
import dev.cay.sdk.Cell;
import dev.cay.sdk.Command;
import dev.cay.sdk.FileEvent;
import dev.cay.sdk.FileInfo;
import dev.cay.sdk.NewSandbox;
import dev.cay.sdk.Sandbox;
import dev.cay.sdk.SandboxException;
import dev.cay.sdk.SandboxException.Kind;
import dev.cay.sdk.SandboxFilter;
import dev.cay.sdk.SandboxInfo;
import dev.cay.sdk.Settings;
import java.io.ByteArrayInputStream;
import java.io.SequenceInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// The Java SDK against a real Cay, by names over TLS and by plain addresses.
@ExtendWith(TestPlatform.class)
@Timeout(600)
final class JavaSdkTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @SuppressWarnings("NullAway.Init")
    private Cay cay;

    @SuppressWarnings("NullAway.Init")
    private Cay named;

    @BeforeEach
    void open(OwnCay platform) {
        cay = Cay.with(Settings.from(platform.environment(OwnCay.Mode.URL)));
        named = Cay.with(Settings.from(platform.environment(OwnCay.Mode.DOMAIN)));
    }

    @AfterEach
    void close() {
        cay.close();
        named.close();
    }

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
    void isReachedByNamesOverTlsToo() throws Exception {
        try (var sandbox = named.create()) {
            assertThat(sandbox.commands().run("echo hi").stdout()).isEqualTo("hi\n");
            sandbox.files().write("a", "b");
            assertThat(sandbox.files().read("a")).isEqualTo("b");
            assertThat(sandbox.host(3000)).startsWith("3000-" + sandbox.id() + ".");
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
    void filesGoInAndOut() throws Exception {
        try (var sandbox = cay.create()) {
            var files = sandbox.files();
            files.write("deep/er/ä b.txt", "gruß");
            assertThat(files.read("/home/user/deep/er/ä b.txt")).isEqualTo("gruß");
            byte[] bytes = new byte[5 << 20];
            new Random(7).nextBytes(bytes);
            files.write("stream", new ByteArrayInputStream(bytes));
            assertThat(files.readBytes("stream")).isEqualTo(bytes);
            Path here = directory.resolve("here");
            files.download("stream", here);
            files.upload(here, "back");
            try (var in = files.open("back")) {
                assertThat(in.readAllBytes()).isEqualTo(bytes);
            }
            assertThat(files.list(".", 2)).extracting(FileInfo::name).contains("deep", "er", "stream", "back");
            assertThat(files.find("stream")).get().returns((long) bytes.length, FileInfo::size);
            assertThat(files.as("root").find("stream"))
                    .as("root's home is another one")
                    .isEmpty();
            assertThat(files.makeDirectory("deep")).isFalse();
            assertThat(files.makeDirectory("new")).isTrue();
            files.move("back", "new/there");
            files.remove("deep");
            assertThat(files.exists("back")).isFalse();
            assertThat(files.exists("new/there")).isTrue();
            assertKind(Kind.NOT_FOUND, () -> files.read("nothing"));
            assertKind(Kind.INVALID, () -> files.write("/etc", "a directory"));
            assertKind(Kind.NOT_FOUND, () -> files.upload(directory.resolve("nothing"), "x"));
        }
    }

    /// The time for an answer does not begin before all is sent.
    @Test
    void aSlowUploadIsNotGivenUp(OwnCay platform) throws Exception {
        var hasty = Settings.from(platform.environment(OwnCay.Mode.URL)).withRequestTimeout(Duration.ofSeconds(2));
        try (var impatient = Cay.with(hasty);
                var sandbox = impatient.create()) {
            var slow = new SequenceInputStream(
                    new ByteArrayInputStream(new byte[] {'a'}), new ByteArrayInputStream(new byte[] {'b'}) {
                        @Override
                        public int read(byte[] into, int from, int most) {
                            LockSupport.parkNanos(Duration.ofSeconds(3).toNanos());
                            return super.read(into, from, most);
                        }
                    });
            sandbox.files().write("slow", slow);
            assertThat(sandbox.files().read("slow")).isEqualTo("ab");
        }
    }

    @Test
    void watchesADirectory() throws Exception {
        try (var sandbox = cay.create()) {
            var events = new LinkedBlockingQueue<FileEvent>();
            try (var watch = sandbox.files().watch(".", true, events::add)) {
                sandbox.files().write("w/x", "1");
                FileEvent event;
                do {
                    event = events.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
                    assertThat(event).isNotNull();
                } while (!event.equals(new FileEvent(FileEvent.Type.CREATE, "w/x")));
                assertThat(watch.isOpen()).isTrue();
                assertThat(watch.failure()).isNull();
            }
            assertKind(Kind.NOT_FOUND, () -> sandbox.files().watch("nowhere", events::add));
        }
    }

    @Test
    void anybodyWithTheAddressCanMoveAFile() throws Exception {
        try (var sandbox = cay.create();
                var plain = HttpClient.newHttpClient()) {
            URI up = sandbox.files().uploadUrl("given", Duration.ofMinutes(1));
            var sent = plain.send(
                    HttpRequest.newBuilder(up)
                            .header("Content-Type", "application/octet-stream")
                            .POST(HttpRequest.BodyPublishers.ofString("by address"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(sent.statusCode()).as(sent.body()).isEqualTo(200);
            URI down = sandbox.files().downloadUrl("given", Duration.ofMinutes(1));
            assertThat(status(plain, down)).isEqualTo(200);
            assertThat(status(plain, URI.create(down.toString().replace("given", "other"))))
                    .isEqualTo(401);
            assertThat(status(plain, sandbox.files().downloadUrl("given", Duration.ofSeconds(-5))))
                    .isEqualTo(401);
        }
    }

    private static int status(HttpClient client, URI uri) throws Exception {
        return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.discarding())
                .statusCode();
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

    private static void assertKind(Kind kind, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.kind()).as(e.getMessage()).isEqualTo(kind));
    }
}
