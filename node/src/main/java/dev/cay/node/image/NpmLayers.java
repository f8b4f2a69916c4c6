package dev.cay.node.image;

import dev.cay.node.host.Programs;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Layers with one npm package each, under `/opt/mcp`: a global prefix of npm, so its programs are in `/opt/mcp/bin`.
///
/// The npm of the base template downloads them, as a program of the host, so that it uses the host's registry, proxy
/// and certificates. No code of a package ever runs on the host: install scripts are not run; and packages may not
/// depend on repositories, other addresses or files, because npm would run code of the first, and the last would be
/// files of the host. Packages whose programs come in optional dependencies work without scripts.
public final class NpmLayers implements AutoCloseable {
    private static final Logger daemonLog = LoggerFactory.getLogger(NpmLayers.class);
    private static final String PREFIX = "opt/mcp";

    /// Counts up when the same package makes another layer.
    private static final String VERSION = "1";

    /// Time limit for one package, with the wait for its turn.
    private static final Duration LIMIT = Duration.ofMinutes(10);

    /// Time limit for ending installs when the daemon stops.
    private static final Duration END_LIMIT = Duration.ofSeconds(5);

    /// Matches paths of this host, which users need not see. Names of packages and addresses do not match.
    private static final Pattern HOST_PATH = Pattern.compile("(?<![\\w./:@-])(?:/[\\w.@+~-]+){2,}/?");

    private static final int AT_ONCE = 2;
    private static final Pattern NAME = Pattern.compile("(@[A-Za-z0-9~][\\w.~-]*/)?[A-Za-z0-9~][\\w.~-]{0,213}");
    private static final Pattern ONE_VERSION = Pattern.compile("\\d+\\.\\d+\\.\\d+(-[\\w.-]+)?(\\+[\\w.-]+)?");

    private final LayerStore layers;
    private final Programs programs;
    private final Path logs;
    private final Duration limit;
    private final Semaphore turns = new Semaphore(AT_ONCE, true);
    private final Set<Thread> installing = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /// @param logs directory for logs of builds
    public NpmLayers(LayerStore layers, Programs programs, Path logs) {
        this(layers, programs, logs, LIMIT);
    }

    /// @param limit for one package
    NpmLayers(LayerStore layers, Programs programs, Path logs, Duration limit) {
        this.layers = layers;
        this.programs = programs;
        this.logs = logs;
        this.limit = limit;
    }

    /// Makes the layer unless it exists; of several concurrent callers, one does and the others wait.
    ///
    /// @param base    layer that has Node and npm
    /// @param version one version, not a range
    /// @return the layer's key
    public String install(String base, String name, String version) {
        if (!NAME.matcher(name).matches()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "'%s' is no name of an npm package".formatted(name));
        }
        if (!ONE_VERSION.matcher(version).matches()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "package %s must have one version, like 1.2.3, and not '%s'".formatted(name, version));
        }
        String key = "mcp-npm-" + LayerStore.hash(List.of(VERSION, name, version, HostArchitecture.name()));
        layers.build(key, rootfs -> {
            installing.add(Thread.currentThread());
            try {
                fillInTurn(rootfs, layers.require(base), name, version);
            } finally {
                installing.remove(Thread.currentThread());
            }
        });
        return key;
    }

    private void fillInTurn(Path rootfs, Path base, String name, String version)
            throws IOException, InterruptedException {
        if (closed) {
            throw new CayException(ErrorKind.UNAVAILABLE, "Cay is being stopped");
        }
        long deadline = System.nanoTime() + limit.toNanos();
        if (!turns.tryAcquire(limit.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new CayException(ErrorKind.UNAVAILABLE, "too many npm packages are being installed; try again");
        }
        try {
            fill(rootfs, base, name, version, Duration.ofNanos(Math.max(1, deadline - System.nanoTime())));
        } finally {
            turns.release();
        }
    }

    /// Ends running installs, with their npm processes.
    @Override
    public void close() {
        closed = true;
        long deadline = System.nanoTime() + END_LIMIT.toNanos();
        while (!installing.isEmpty() && System.nanoTime() < deadline) {
            installing.forEach(Thread::interrupt);
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
    }

    /// The command that runs a program of the package.
    ///
    /// @param key of the package's layer
    public List<String> command(String key, String program) {
        var rootfs = layers.require(key);
        var programs = rootfs.resolve(PREFIX).resolve("bin");
        var link = programs.resolve(program).normalize();
        try {
            if (!programs.equals(link.getParent()) || !Files.isRegularFile(link)) {
                throw new CayException(
                        ErrorKind.NOT_FOUND,
                        "the npm package has no program %s; it has: %s".formatted(program, list(programs)));
            }
            String inside = "/" + rootfs.relativize(link);
            return isProgram(link.toRealPath(), rootfs.toRealPath()) ? List.of(inside) : List.of("node", inside);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read the npm package's programs", e);
        }
    }

    private static String list(Path programs) throws IOException {
        if (!Files.isDirectory(programs)) {
            return "none";
        }
        try (var found = Files.list(programs)) {
            return found.map(file -> file.getFileName().toString()).sorted().collect(Collectors.joining(", "));
        }
    }

    /// Whether the kernel can execute the file. A script without an interpreter line is for Node.
    private static boolean isProgram(Path file, Path rootfs) throws IOException {
        if (!file.startsWith(rootfs)) {
            return true;
        }
        try (var in = Files.newInputStream(file)) {
            byte[] begin = in.readNBytes(4);
            return begin.length > 1 && ((begin[0] == '#' && begin[1] == '!') || begin[0] == 0x7f);
        }
    }

    private void fill(Path rootfs, Path base, String name, String version, Duration left) throws IOException {
        var prefix = Files.createDirectories(rootfs.resolve(PREFIX));
        var npm = NpmCommand.of(
                base, "install", List.of("--global", "--prefix", prefix.toString(), "--", name + "@" + version));
        String label = "npm package %s@%s".formatted(name, version);
        var file = logs.resolve("mcp-npm-" + name.replaceAll("[^\\w.-]", "_") + ".log");
        try (var log = BuildLog.of(file, label)) {
            run(npm, label, log, left);
        } catch (CayException e) {
            daemonLog
                    .atWarn()
                    .addKeyValue("reason", e.userMessage())
                    .addKeyValue("log", file)
                    .log("an npm package is not installed");
            throw e;
        }
        // Whatever the daemon's umask is, because servers do not run as root.
        programs.require(LIMIT, "chmod", "-R", "a+rX,go-w", rootfs.toString());
    }

    /// Runs npm. Users read its failure: npm's own message, and nothing about this host.
    private void run(List<String> npm, String label, BuildLog log, Duration left) {
        var said = new NpmWords();
        int exit;
        try {
            exit = programs.follow(left, NodeJs.environment(), npm, line -> {
                log.line(line);
                said.hear(line);
            });
        } catch (CayException e) {
            throw new CayException(
                    e.kind(),
                    e.kind() == ErrorKind.DEADLINE_EXCEEDED
                            ? "%s was not installed after %s%s".formatted(label, words(limit), said.last(": "))
                            : "the installation of %s was stopped".formatted(label),
                    e);
        }
        if (exit != 0) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "%s could not be installed (%s): %s, then try again"
                            .formatted(label, said.complaint(), BuildLog.REACH));
        }
    }

    private static String words(Duration time) {
        return time.toMinutes() > 0 ? time.toMinutes() + " minutes" : time.toSeconds() + " seconds";
    }

    /// The output of npm, without paths of the host.
    private static final class NpmWords {
        private String last = "";
        private String complaint = "";

        synchronized void hear(String line) {
            if (!line.isBlank() && !line.contains("A complete log of this run")) {
                last = HOST_PATH.matcher(line.strip()).replaceAll("(a path of the host)");
                complaint = complaint.isEmpty() && NodeJs.isComplaint(line) ? last : complaint;
            }
        }

        synchronized String last(String before) {
            return last.isEmpty() ? "" : before + last;
        }

        /// The first line that names an error; without one, the last line.
        synchronized String complaint() {
            return complaint.isEmpty() && last.isEmpty() ? "no reason given" : complaint.isEmpty() ? last : complaint;
        }
    }
}
