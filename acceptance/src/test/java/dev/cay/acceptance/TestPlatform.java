package dev.cay.acceptance;

import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/// A Cay daemon of the tests' own: its own process, state, ports, names and addresses; only the cache is the machine's.
///
/// One serves all tests of a run. A test that kills the daemon starts one for itself.
final class TestPlatform implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofMinutes(15);

    /// How clients reach the daemon.
    enum Mode {
        /// `E2B_DOMAIN` alone: TLS, a host name for every sandbox.
        DOMAIN,
        /// `E2B_API_URL` and `E2B_SANDBOX_URL`: plain HTTP, the sandbox named in headers.
        URL
    }

    private final Path directory;
    private final String instance =
            "t" + Integer.toString(ThreadLocalRandom.current().nextInt(36, 1296), 36);
    private final int port = freePort();
    private final int tlsPort = freePort();
    private Process daemon;

    private TestPlatform(Path directory) throws Exception {
        this.directory = directory;
        Files.writeString(directory.resolve("cay.yaml"), configuration());
        this.daemon = startDaemon();
    }

    static TestPlatform start() throws Exception {
        var directory = Files.createTempDirectory("cay-acceptance-");
        // Sandboxes' own root users pass through it on the way to their bundles.
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
        return new TestPlatform(directory);
    }

    private String configuration() {
        var random = ThreadLocalRandom.current();
        return """
                instance: %s
                stateDir: %s
                runDir: %s
                http:
                  port: %d
                  tlsPort: %d
                storage:
                  poolSizeMB: 6GB
                  uidBase: %d
                network:
                  range: 10.%d.%d.0/24
                """.formatted(
                        instance,
                        directory.resolve("state"),
                        directory.resolve("run"),
                        port,
                        tlsPort,
                        200_000_000 + random.nextInt(0, 105) * 17_000_000,
                        random.nextInt(201, 250),
                        random.nextInt(0, 256));
    }

    private Process startDaemon() throws Exception {
        var ready = directory.resolve("run/cay.json");
        Files.deleteIfExists(ready);
        var process = cay("up")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        directory.resolve("daemon.out").toFile()))
                .start();
        long end = System.nanoTime() + START_LIMIT.toNanos();
        while (!Files.exists(ready)) {
            if (!process.isAlive() || System.nanoTime() > end) {
                process.destroyForcibly();
                throw new IllegalStateException("the daemon did not come up:\n" + output());
            }
            Thread.sleep(20);
        }
        return process;
    }

    /// A `cay` command of this daemon.
    ProcessBuilder cay(String... arguments) {
        var command = new ArrayList<>(List.of(
                System.getProperty("java.home") + "/bin/java",
                "--enable-native-access=ALL-UNNAMED",
                "-Djdk.virtualThreadScheduler.parallelism=16",
                "-Xmx512m",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.cay.cli.Main"));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command);
        builder.environment().put("CAY_CONFIG", directory.resolve("cay.yaml").toString());
        builder.environment().remove("SUDO_USER");
        return builder;
    }

    /// What `cay env` tells a client to set.
    Map<String, String> environment(Mode mode) {
        try {
            var process = cay("env", "--shell", "json", "--mode", mode.name().toLowerCase(java.util.Locale.ROOT))
                    .redirectError(log())
                    .start();
            var text = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
            var environment = new HashMap<String, String>();
            tools.jackson.databind.json.JsonMapper.shared()
                    .readTree(text)
                    .forEachEntry((name, value) -> environment.put(name, value.asString()));
            return environment;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private ProcessBuilder.Redirect log() {
        return ProcessBuilder.Redirect.appendTo(directory.resolve("daemon.out").toFile());
    }

    String output() {
        try {
            return Files.readString(directory.resolve("daemon.out"));
        } catch (IOException e) {
            return "(no output: " + e.getMessage() + ")";
        }
    }

    /// Ends the daemon as a crash would: nothing of it gets to run any more.
    void crash() throws InterruptedException {
        daemon.destroyForcibly().waitFor(10, SECONDS);
    }

    void startAgain() throws Exception {
        daemon = startDaemon();
    }

    @Override
    public void close() throws IOException {
        var down = cay("down", "--all")
                .redirectErrorStream(true)
                .redirectOutput(log())
                .start();
        boolean ended = down.onExit()
                .completeOnTimeout(down, 120, SECONDS)
                .thenApply(process -> !process.isAlive() && process.exitValue() == 0)
                .join();
        daemon.destroyForcibly();
        if (!ended) {
            down.destroyForcibly();
            throw new IOException("`cay down --all` failed:\n" + output());
        }
        Files.deleteIfExists(Path.of(System.getProperty("user.home"), ".config/cay/key-" + instance));
        deleteTree(directory);
    }

    private static void deleteTree(Path root) throws IOException {
        try (var paths = Files.walk(root)) {
            for (var path : paths.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    /// Gives test methods the run's one platform, and ends it with the run.
    static final class Shared implements ParameterResolver {
        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == TestPlatform.class;
        }

        @Override
        public TestPlatform resolveParameter(ParameterContext parameter, ExtensionContext context) {
            return context.getRoot()
                    .getStore(ExtensionContext.Namespace.GLOBAL)
                    .computeIfAbsent(TestPlatform.class, _ -> startUnchecked(), TestPlatform.class);
        }

        private static TestPlatform startUnchecked() {
            try {
                return start();
            } catch (Exception e) {
                throw new IllegalStateException("no platform to test", e);
            }
        }
    }
}
