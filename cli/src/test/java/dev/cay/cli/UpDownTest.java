package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.KeyFile;
import dev.cay.cli.local.RunFile;
import dev.cay.life.Trees;
import dev.cay.node.host.HostLedger;
import dev.cay.node.host.Reservation;
import dev.cay.node.image.LayerStore;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.tls.LocalAuthority;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The real command in processes of its own, with directories, ports, addresses and names no other daemon uses.
/// Only the cache is shared: the first run on a machine makes the base template, hence the long limit.
@NeedsRoot
final class UpDownTest {
    private static final Duration LIMIT = Duration.ofMinutes(20);

    @TempDir
    private Path directory = Path.of("unset");

    private @Nullable Reservation place;
    private final List<Process> started = new ArrayList<>();

    @BeforeEach
    void configure() throws IOException {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
        var reserved = HostLedger.ofHost().reserve(directory, 24);
        place = reserved;
        Files.writeString(directory.resolve("cay.yaml"), """
                instance: %s
                stateDir: %s/state
                runDir: %s/run
                http:
                  listen: 127.0.0.1
                  port: %d
                  tlsPort: %d
                storage:
                  poolSizeMB: 1GB
                  uidBase: %d
                network:
                  range: %s
                templates:
                  prepare: ""
                """.formatted(
                        reserved.instance(),
                        directory,
                        directory,
                        reserved.claim().port(),
                        reserved.claim().tlsPort(),
                        reserved.claim().uidBase(),
                        reserved.claim().range()));
    }

    private Reservation place() {
        return Objects.requireNonNull(place, "not configured");
    }

    @AfterEach
    void leaveNothingRunning() throws Exception {
        var down = run("down", "--all");
        for (Process process : started) {
            process.destroyForcibly().waitFor();
        }
        Files.deleteIfExists(KeyFile.in(Path.of(System.getProperty("user.home")), place().instance()));
        LayerStore.forget(Path.of("/var/cache/cay"), directory.resolve("state"));
        assertThat(down.code()).as(down.text()).isZero();
        assertThat(onHost()).as("left on the host").isEmpty();
        HostLedger.ofHost().release(place());
    }

    /// What a daemon of this instance has on the host while it runs.
    private List<String> onHost() throws Exception {
        var found = new ArrayList<String>();
        Files.readAllLines(Path.of("/proc/self/mounts")).stream()
                .filter(line -> line.contains(directory.toString()))
                .forEach(found::add);
        var tables = new ProcessBuilder("nft", "list", "tables").start();
        try (var lines = tables.inputReader()) {
            lines.lines()
                    .filter(line -> line.endsWith(" cay_" + place().instance()))
                    .forEach(found::add);
        }
        NetworkInterface.getByName("lo")
                .inetAddresses()
                .map(InetAddress::getHostAddress)
                .filter(address -> address.equals(place().plan().gateway()))
                .forEach(found::add);
        return found;
    }

    @Test
    void servesUntilItIsToldToStopAndEndsWithoutAnError() throws Exception {
        Process daemon = up();
        awaitReady();
        assertThat(onHost()).as("pool, table and address").hasSize(3);
        Path file = RunFile.in(directory.resolve("run"));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-r--r--");
        assertThat(Files.readString(file)).doesNotContain("e2b_");
        daemon.destroy();
        assertThat(daemon.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(daemon.exitValue()).isZero();
        assertThat(file).doesNotExist();
        assertThat(output()).contains("Cay is ready", "Cay stopped; no sandbox was running.");
        assertThat(onHost()).as("left on the host").isEmpty();
        // As a reboot leaves it.
        Trees.delete(directory.resolve("run"));
        assertThat(run("down", "--all").text()).endsWith("Cay was not running; no sandbox is left.");
    }

    @Test
    void aSecondOneNamesTheFirst() throws Exception {
        Process daemon = up();
        awaitReady();
        var second = run("up");
        assertThat(second.code()).isEqualTo(1);
        assertThat(second.text())
                .isEqualTo("cay: already running, pid %d; stop it with: sudo %s"
                        .formatted(daemon.pid(), ConfigOptions.command("down", directory.resolve("cay.yaml"))));
        assertThat(run("down").text()).startsWith("Cay stopped");
        assertThat(daemon.isAlive()).isFalse();
    }

    @Test
    void inTheBackgroundItReturnsWhenReady() throws Exception {
        var up = run("up", "--detach");
        assertThat(up.code()).as(up.text()).isZero();
        assertThat(up.text()).contains("Cay is ready", Background.LAST_LINE);
        // Whoever does what it says meets this Cay, and not the one that is configured in the usual place.
        for (String words : List.of("env", "down")) {
            assertThat(up.text()).contains("cay %s --config %s".formatted(words, directory.resolve("cay.yaml")));
        }
        var daemon = RunFile.find(directory.resolve("run")).orElseThrow();
        assertThat(ProcessHandle.of(daemon.pid())).isPresent();
        assertServesTlsAndPlain();
        assertThat(run("template", "list").text())
                .as("what the daemon says; without one it would be made, not ready")
                .containsPattern("(?m)^base +ready, ");
        assertThat(run("up", "--detach").text()).isEqualTo("already running, pid " + daemon.pid());
        assertThat(run("down", "--all").text()).endsWith("Cay stopped; no sandbox is left.");
        assertThat(RunFile.find(directory.resolve("run"))).isEmpty();
    }

    /// On either port, as some clients mistake the one for the other.
    private void assertServesTlsAndPlain() throws Exception {
        var claim = place().claim();
        var tls = LocalAuthority.open(directory.resolve("state/tls"), "cay.localhost")
                .trusting();
        try (var client = HttpClient.newBuilder().sslContext(tls).build()) {
            for (int port : List.of(claim.port(), claim.tlsPort())) {
                for (String scheme : List.of("http", "https")) {
                    var uri = URI.create("%s://localhost:%d/health".formatted(scheme, port));
                    var request = HttpRequest.newBuilder(uri)
                            .timeout(Duration.ofMinutes(1))
                            .build();
                    assertThat(client.send(request, BodyHandlers.discarding()).statusCode())
                            .as(uri.toString())
                            .isBetween(200, 204);
                }
            }
        }
    }

    @Test
    void inTheBackgroundItWaitsForOneThatIsStillDying() throws Exception {
        Process dying = holdLock();
        Path output = Files.createTempFile(directory, "run", ".out");
        Process up = start(output, "up", "--detach");
        started.add(up);
        Await.until(
                "the start waits for the Cay before, or ends",
                () -> !up.isAlive() || Files.readString(output).contains("waiting for the Cay before"));
        dying.destroyForcibly().waitFor();
        assertThat(up.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(Files.readString(output)).contains("Cay is ready").doesNotContain("already running");
        assertThat(up.exitValue()).isZero();
        assertThat(RunFile.find(directory.resolve("run")).orElseThrow().pid()).isNotEqualTo(dying.pid());
    }

    @Test
    void inTheBackgroundItNamesOneThatNeitherAnswersNorGoes() throws Exception {
        Process stuck = holdLock();
        var up = run("up", "--detach");
        stuck.destroyForcibly().waitFor();
        assertThat(up.code()).isEqualTo(1);
        assertThat(up.text()).contains("cay: Cay (pid %d) runs but does not answer at http://".formatted(stuck.pid()));
    }

    /// A process that has the lock and the run file of a daemon and serves nothing, like one that was killed and has
    /// much memory to give back.
    private Process holdLock() throws Exception {
        Path state = Files.createDirectories(directory.resolve("state"));
        Path run = Files.createDirectories(directory.resolve("run"));
        String program = """
                import fcntl, os, sys, time
                lock = open(sys.argv[1], 'w')
                fcntl.lockf(lock, fcntl.LOCK_EX)
                lock.write('%d\\n' % os.getpid())
                lock.flush()
                print('held', flush=True)
                time.sleep(3600)
                """;
        var process = new ProcessBuilder(
                        "python3", "-c", program, state.resolve("cay.lock").toString())
                .redirectErrorStream(true)
                .start();
        started.add(process);
        assertThat(process.inputReader().readLine()).isEqualTo("held");
        String url = "http://127.0.0.1:" + place().claim().port();
        new RunFile(process.pid(), "0", place().instance(), url, "x", "x", "x", state.toString()).write(run);
        return process;
    }

    @Test
    void stoppingDoesNotWaitForTheParentOfTheDaemon() throws Exception {
        // A parent that never asks for its child's status: what has ended stays there as a zombie.
        var words = new ArrayList<>(List.of("bash", "-c", "\"$@\" & exec sleep 3600", "parent"));
        words.addAll(MainProcess.command(directory, "up"));
        var builder = new ProcessBuilder(words)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("up.out").toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("CAY_"));
        started.add(builder.start());
        awaitReady();
        long daemon = RunFile.find(directory.resolve("run")).orElseThrow().pid();
        Path output = Files.createTempFile(directory, "run", ".out");
        Process down = start(output, "down", "--all");
        started.add(down);
        assertThat(down.waitFor(5, TimeUnit.MINUTES)).isTrue();
        assertThat(Files.readString(output)).contains("Cay stopped; no sandbox is left.");
        assertThat(Files.readString(Path.of("/proc/%d/stat".formatted(daemon)))).contains(") Z ");
    }

    /// The daemon dies while it ends sandboxes, so that somebody else has to finish.
    @Test
    void whatADaemonCouldNotTakeOffTheHostIsTakenOffAllTheSame() throws Exception {
        Process daemon = up();
        awaitReady();
        signal("STOP", daemon);
        Path output = Files.createTempFile(directory, "run", ".out");
        Process down = start(output, "down", "--all");
        started.add(down);
        Path asked = directory.resolve("run/end-all");
        Await.until("the command asks the daemon to end all sandboxes", () -> Files.exists(asked));
        daemon.destroyForcibly().waitFor();
        assertThat(down.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(Files.readString(output)).contains("Cay stopped; no sandbox is left.");
        assertThat(down.exitValue()).isZero();
        assertThat(onHost()).as("left on the host").isEmpty();
    }

    private static void signal(String name, Process process) throws Exception {
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .start()
                .waitFor();
    }

    @Test
    void aFailedStartInTheBackgroundIsAFailureHere() throws Exception {
        try (var taken = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
            var up = run("up", "--detach", "--port", Integer.toString(taken.getLocalPort()));
            assertThat(up.code()).isEqualTo(1);
            assertThat(up.text()).startsWith("cay: port %d is taken by".formatted(taken.getLocalPort()));
        }
    }

    @Test
    void aDaemonThatWasKilledDoesNotKeepTheNextFromStarting() throws Exception {
        Process daemon = up();
        awaitReady();
        daemon.destroyForcibly().waitFor();
        assertThat(RunFile.in(directory.resolve("run"))).exists();
        assertThat(RunFile.find(directory.resolve("run"))).isEmpty();
        up();
        awaitReady();
    }

    @Test
    void withoutADaemonThereIsNoEnvironment() throws Exception {
        var env = run("env");
        assertThat(env.code()).isEqualTo(1);
        String file = directory.resolve("cay.yaml").toString();
        assertThat(env.text())
                .isEqualTo("cay: Cay is not running; start it with: sudo ./cay up --detach --config " + file);
        assertThat(run("sandbox", "list").text()).isEqualTo(env.text());
    }

    private record Result(int code, String text) {}

    private Process up() throws IOException {
        var process = start(directory.resolve("up.out"), "up");
        started.add(process);
        return process;
    }

    private void awaitReady() throws Exception {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (RunFile.find(directory.resolve("run")).isEmpty() || !output().contains(Background.LAST_LINE)) {
            assertThat(System.nanoTime()).as(output()).isLessThan(end);
            assertThat(started.getLast().isAlive()).as(output()).isTrue();
            if (Files.exists(RunFile.in(directory.resolve("run")))) {
                assertThat(KeyFile.in(Path.of(System.getProperty("user.home")), place().instance()))
                        .as("a client that finds Cay ready finds its key")
                        .exists();
            }
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    private String output() throws IOException {
        return Files.readString(directory.resolve("up.out"));
    }

    private Result run(String... arguments) throws Exception {
        Path output = Files.createTempFile(directory, "run", ".out");
        var process = start(output, arguments);
        assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        return new Result(
                process.exitValue(),
                Files.readString(output, StandardCharsets.UTF_8).strip());
    }

    private Process start(Path output, String... arguments) throws IOException {
        var command = MainProcess.command(directory, arguments);
        var builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("CAY_"));
        return builder.start();
    }
}
