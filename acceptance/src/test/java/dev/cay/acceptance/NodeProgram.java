package dev.cay.acceptance;

import static java.util.concurrent.TimeUnit.SECONDS;

import dev.cay.platform.NpmClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/// A program of `src/test/js` that goes on beside the test and says first where it can be reached.
record NodeProgram(Process process, BlockingQueue<String> lines) implements AutoCloseable {
    private static final int LIMIT_SECONDS = 30;

    /// For programs that do not run with that of the machine.
    static Path newerNode() throws IOException, InterruptedException {
        String name = "node-linux-" + (System.getProperty("os.arch").equals("aarch64") ? "arm64" : "x64");
        return NpmClient.install(name, "24.20.0").directory().resolve("node_modules/" + name + "/bin/node");
    }

    static NodeProgram start(Map<String, String> environment, String file, String... arguments) throws IOException {
        var command =
                new ArrayList<>(List.of("node", Path.of("src/test/js", file).toString()));
        command.addAll(List.of(arguments));
        return start(environment, command);
    }

    static NodeProgram start(Map<String, String> environment, List<String> command) throws IOException {
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        var lines = new ArrayBlockingQueue<String>(1000);
        var process = builder.start();
        Thread.startVirtualThread(() -> {
            try (var reader =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                // What nobody waits for is let go, so that the program never waits for us.
                reader.lines().forEach(lines::offer);
            } catch (IOException | UncheckedIOException _) {
                // It has ended.
            }
        });
        return new NodeProgram(process, lines);
    }

    String firstLine() throws InterruptedException {
        return awaitLine("");
    }

    /// The first line from here on that has this in it.
    String awaitLine(String part) throws InterruptedException {
        long end = System.nanoTime() + SECONDS.toNanos(LIMIT_SECONDS);
        while (System.nanoTime() < end) {
            String line = lines.poll(1, SECONDS);
            if (line != null && line.contains(part)) {
                return line;
            }
        }
        throw new AssertionError("the program did not say " + part);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
