package dev.cay.platform;

import static java.util.concurrent.TimeUnit.SECONDS;

import dev.cay.life.Trees;
import dev.cay.node.Abandoned;
import dev.cay.node.host.HostLedger;
import dev.cay.node.host.Reservation;
import dev.cay.node.image.LayerStore;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/// A Cay daemon for measuring and testing: its own process, state, ports, names and addresses. Only the cache is the
/// machine's, so a daemon that serves people is not disturbed, and nothing is left when this one is closed.
public final class OwnCay implements AutoCloseable {
    private static final Duration TEMPLATE_LIMIT = Duration.ofMinutes(40);

    /// How often a template may fail to be made: each time somebody asks, it is tried again.
    private static final int TEMPLATE_TRIES = 3;

    private static final Duration START_LIMIT = Duration.ofMinutes(15);
    private static final Duration END_LIMIT = Duration.ofMinutes(5);
    private static final Pattern WORD = Pattern.compile("(?<=[a-z])(?=[A-Z])");

    private static final String RANGE = "network.range";
    private static final String CACHE = "/var/cache/cay";

    /// A setting for measurements with up to 4000 sandboxes at a time; there are 250 without it.
    public static final Map<String, String> LARGE = Map.of(RANGE, "/20");

    /// How clients reach the daemon.
    public enum Mode {
        /// `E2B_DOMAIN` alone: TLS, a host name for every sandbox.
        DOMAIN,
        /// `E2B_API_URL` and `E2B_SANDBOX_URL`: plain HTTP, the sandbox named in headers.
        URL
    }

    private final Path directory;
    private final Reservation place;
    private final Map<String, String> settings;
    private final Map<Mode, Map<String, String>> environments = new ConcurrentHashMap<>();
    private @Nullable Process daemon;

    private OwnCay(Path directory, Map<String, String> settings, String sections) throws IOException {
        this.directory = directory;
        var own = new HashMap<>(settings);
        String size = Objects.requireNonNullElse(own.remove(RANGE), "/24");
        this.settings = Map.copyOf(own);
        var ledger = HostLedger.ofHost();
        Abandoned.remove(ledger);
        this.place = ledger.reserve(directory, Integer.parseInt(size.substring(1)));
        Files.writeString(directory.resolve("cay.yaml"), configuration() + sections);
    }

    /// @param settings keys of `cay.yaml` with values that differ from what this daemon would have; {@link #LARGE} is
    ///                 the only one that says something about its addresses. Names in capitals are variables of its
    ///                 environment.
    public static OwnCay start(Map<String, String> settings) throws IOException, InterruptedException {
        return start(settings, "");
    }

    /// @param sections of `cay.yaml` that no variable can stand for, like `mcp.servers`
    public static OwnCay start(Map<String, String> settings, String sections) throws IOException, InterruptedException {
        var directory = Files.createTempDirectory("cay-own-");
        // Sandboxes' own root users pass through it on the way to their bundles.
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
        var cay = new OwnCay(directory, settings, sections);
        try {
            cay.startAgain();
            return cay;
        } catch (IOException | InterruptedException | RuntimeException e) {
            cay.giveUp(e);
            throw e;
        }
    }

    /// Returns when sandboxes can be made from a template, which on a new machine has to be made first.
    public void awaitTemplate(String name) throws IOException, InterruptedException {
        long end = System.nanoTime() + TEMPLATE_LIMIT.toNanos();
        int failures = 0;
        while (true) {
            try {
                RemoteSandbox.create(url(), key(), name, Duration.ofMinutes(1)).close();
                return;
            } catch (CayException e) {
                failures += String.valueOf(e.getMessage()).contains("could not be made") ? 1 : 0;
                if (System.nanoTime() > end || failures == TEMPLATE_TRIES) {
                    throw e;
                }
            }
            Thread.sleep(Duration.ofSeconds(2));
        }
    }

    /// What a start that failed has left on the host is taken off as after any other.
    private void giveUp(Exception failure) {
        try {
            close();
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    private String configuration() {
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
                  range: %s
                templates:
                  prepare: ""
                """.formatted(
                        instance(),
                        directory.resolve("state"),
                        directory.resolve("run"),
                        port(),
                        tlsPort(),
                        place.claim().uidBase(),
                        place.claim().range());
    }

    private Process startDaemon() throws IOException, InterruptedException {
        var ready = runFile();
        Files.deleteIfExists(ready);
        var process = cay("up").redirectErrorStream(true).redirectOutput(log()).start();
        long end = System.nanoTime() + START_LIMIT.toNanos();
        try {
            while (!Files.exists(ready)) {
                if (!process.isAlive() || System.nanoTime() > end) {
                    throw new IllegalStateException("the daemon did not come up:\n" + output());
                }
                Thread.sleep(5);
            }
            return process;
        } catch (InterruptedException | RuntimeException e) {
            process.destroyForcibly();
            throw e;
        }
    }

    /// A `cay` command for this daemon: by the launcher, with all it gives a daemon, where there is one, else by the
    /// classes at hand.
    public ProcessBuilder cay(String... arguments) {
        String home = System.getProperty("cay.home");
        var command = new ArrayList<String>();
        if (home == null) {
            command.addAll(CayProgram.command(arguments));
        } else {
            command.add(home + "/cay");
            command.addAll(List.of(arguments));
        }
        var builder = new ProcessBuilder(command);
        builder.environment().put("CAY_CONFIG", directory.resolve("cay.yaml").toString());
        settings.forEach((key, value) -> builder.environment().put(variable(key), value));
        builder.environment().remove("SUDO_USER");
        return builder;
    }

    /// A name in capitals is a variable already.
    private static String variable(String key) {
        if (key.equals(key.toUpperCase(Locale.ROOT))) {
            return key;
        }
        return "CAY_" + WORD.matcher(key.replace('.', '_')).replaceAll("_").toUpperCase(Locale.ROOT);
    }

    /// What `cay env` tells a client to set. Asked once: a JVM takes longer than what most callers want of it.
    public Map<String, String> environment(Mode mode) {
        return environments.computeIfAbsent(mode, this::askEnvironment);
    }

    private Map<String, String> askEnvironment(Mode mode) {
        try {
            var process = cay("env", "--shell", "json", "--mode", mode.name().toLowerCase(Locale.ROOT))
                    .redirectError(log())
                    .start();
            var text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            var environment = new HashMap<String, String>();
            JsonMapper.shared().readTree(text).forEachEntry((name, value) -> environment.put(name, value.asString()));
            return Map.copyOf(environment);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Where plain HTTP is answered, the API's as well as the sandboxes'.
    public URI url() {
        return URI.create("http://127.0.0.1:" + port());
    }

    /// A key for its API.
    public String key() {
        return Objects.requireNonNull(environment(Mode.URL).get("E2B_API_KEY"), "cay env names no key");
    }

    private Path runFile() {
        return directory.resolve("run/cay.json");
    }

    private ProcessBuilder.Redirect log() {
        return ProcessBuilder.Redirect.appendTo(directory.resolve("daemon.out").toFile());
    }

    /// All the daemon has said on its standard output.
    public String output() {
        try {
            return Files.readString(directory.resolve("daemon.out"));
        } catch (IOException e) {
            return "(no output: " + e.getMessage() + ")";
        }
    }

    public String instance() {
        return place.instance();
    }

    /// State, run and configuration lie below it.
    public Path directory() {
        return directory;
    }

    /// A script put here under the name of a step is run when a daemon with the agent for faults reaches it.
    public Path faults() {
        return directory.resolve("faults");
    }

    public int port() {
        return place.claim().port();
    }

    public int tlsPort() {
        return place.claim().tlsPort();
    }

    public ProcessHandle daemon() {
        return running().toHandle();
    }

    private Process running() {
        return Objects.requireNonNull(daemon, "not started");
    }

    /// Ends the daemon as a crash would: nothing of it gets to run any more.
    public void crash() throws InterruptedException {
        running().destroyForcibly().waitFor(10, SECONDS);
    }

    public void startAgain() throws IOException, InterruptedException {
        daemon = startDaemon();
    }

    @Override
    public void close() throws IOException {
        var down = cay("down", "--all")
                .redirectErrorStream(true)
                .redirectOutput(log())
                .start();
        boolean ended = down.onExit()
                .completeOnTimeout(down, END_LIMIT.toSeconds(), SECONDS)
                .thenApply(process -> !process.isAlive() && process.exitValue() == 0)
                .join();
        if (daemon != null) {
            daemon.destroyForcibly();
        }
        if (!ended) {
            down.destroyForcibly();
            throw new IOException("`cay down --all` failed:\n" + output());
        }
        Files.deleteIfExists(Path.of(System.getProperty("user.home"), ".config/cay/key-" + instance()));
        LayerStore.forget(Path.of(settings.getOrDefault("cacheDir", CACHE)), directory.resolve("state"));
        Trees.delete(directory);
        HostLedger.ofHost().release(place);
    }
}
