package dev.cay.platform;

import dev.cay.life.Trees;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A program in JavaScript that uses an official client. It tells what it found as lines of JSON on standard output and
/// takes orders as lines on standard input; what else it prints is kept for the one who must find out why it failed.
///
/// Scripts lie beside the class that uses them; all find `client.mjs` in their own directory.
public final class Script implements AutoCloseable {
    private static final int KEPT_LINES = 40;
    private static final String END = "";

    private final Path directory;
    private final Process process;
    private final BufferedWriter orders;
    private final LinkedBlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final List<String> others = new ArrayList<>();

    private Script(Path directory, Process process) {
        this.directory = directory;
        this.process = process;
        this.orders = process.outputWriter(StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon().name("script-output").start(() -> read(process.inputReader(), true));
        Thread.ofPlatform().daemon().name("script-errors").start(() -> read(process.errorReader(), false));
    }

    /// With the newest client, which reaches the daemon by plain URLs.
    ///
    /// @param home      the class beside which the script lies as a resource
    /// @param arguments as their `toString` says
    public static Script start(OwnCay cay, Class<?> home, String name, Object... arguments)
            throws IOException, InterruptedException {
        return start(
                NpmClient.e2b(),
                cay.environment(OwnCay.Mode.URL),
                home,
                name,
                Stream.of(arguments).map(Object::toString).toArray(String[]::new));
    }

    public static Script start(
            NpmClient client, Map<String, String> environment, Class<?> home, String name, String... arguments)
            throws IOException {
        var directory = Files.createTempDirectory("cay-script-");
        copy(Script.class, "client.mjs", directory);
        copy(home, name, directory);
        var command = new ArrayList<>(List.of("node", directory.resolve(name).toString()));
        command.addAll(List.of(arguments));
        return new Script(
                directory,
                client.program(environment, command.toArray(String[]::new)).start());
    }

    private static void copy(Class<?> home, String name, Path directory) throws IOException {
        try (var in = home.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("no resource " + name + " beside " + home);
            }
            Files.copy(in, directory.resolve(name));
        }
    }

    private void read(BufferedReader from, boolean mayAnswer) {
        try (from) {
            for (String line = from.readLine(); line != null; line = from.readLine()) {
                if (mayAnswer && line.startsWith("{")) {
                    answers.add(line);
                } else {
                    keep(line);
                }
            }
        } catch (IOException e) {
            keep("(output ended: " + e.getMessage() + ")");
        } finally {
            if (mayAnswer) {
                answers.add(END);
            }
        }
    }

    private synchronized void keep(String line) {
        others.add(line);
        if (others.size() > KEPT_LINES) {
            others.removeFirst();
        }
    }

    /// The script's next answer; fails when it ends without one, or the limit passes.
    public JsonNode next(Duration limit) throws InterruptedException {
        String line = answers.poll(limit.toMillis(), TimeUnit.MILLISECONDS);
        if (line == null || line.equals(END)) {
            throw new IllegalStateException(
                    (line == null ? "no answer within " + limit : "the script ended") + ":\n" + said());
        }
        return JsonMapper.shared().readTree(line);
    }

    public void tell(String order) throws IOException {
        orders.write(order);
        orders.newLine();
        orders.flush();
    }

    private synchronized String said() {
        return String.join("\n", others);
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        Trees.delete(directory);
    }
}
