package dev.cay.platform;

import static java.util.concurrent.TimeUnit.MINUTES;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/// An official client in one version, installed once per machine from the npm registry, by whatever mirror or proxy
/// npm is set to use.
///
/// @param directory where its `node_modules` lies
public record NpmClient(String name, String version, Path directory) {
    private static final Path CACHE = Path.of("/var/cache/cay/npm");
    private static final int INSTALL_MINUTES = 10;

    /// The lock in the file is between processes; two threads of one must not even ask for it.
    private static final ReentrantLock INSTALLING = new ReentrantLock();

    /// The client that figures and proofs are made with.
    public static NpmClient e2b() throws IOException, InterruptedException {
        return install("e2b", "2.51.0");
    }

    public static NpmClient install(String name, String version) throws IOException, InterruptedException {
        return install(name, version, "--no-audit");
    }

    /// Also if it asks for another version of Node than the one that is here.
    public static NpmClient installAnyway(String name, String version) throws IOException, InterruptedException {
        return install(name, version, "--force");
    }

    /// Several packages side by side, as a project of somebody's would have them.
    ///
    /// @param wanted like `name@1.2.3`; the first names the directory
    public static NpmClient installTogether(String... wanted) throws IOException, InterruptedException {
        int at = wanted[0].lastIndexOf('@');
        return install(wanted[0].substring(0, at), wanted[0].substring(at + 1), "--force", wanted);
    }

    private static NpmClient install(String name, String version, String option, String... together)
            throws IOException, InterruptedException {
        var wanted = together.length == 0 ? List.of(name + "@" + version) : List.of(together);
        var directory = CACHE.resolve(
                String.join("+", wanted).replaceAll("(?<=.)@", "-").replace('/', '_'));
        Files.createDirectories(directory);
        INSTALLING.lock();
        try (var lock =
                FileChannel.open(directory.resolve(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            lock.lock();
            if (!Files.exists(directory.resolve(".complete"))) {
                Files.writeString(directory.resolve("package.json"), "{\"private\": true}");
                var command = new ArrayList<>(
                        List.of("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", option));
                command.addAll(wanted);
                run(directory, command);
                Files.createFile(directory.resolve(".complete"));
            }
        } finally {
            INSTALLING.unlock();
        }
        return new NpmClient(name, version, directory);
    }

    /// Starts a program that may use this client: it finds the package by the variable `CAY_CLIENT`.
    public ProcessBuilder program(Map<String, String> environment, String... command) {
        var builder = new ProcessBuilder(command);
        builder.environment().keySet().removeIf(key -> key.startsWith("E2B_"));
        builder.environment().putAll(environment);
        builder.environment().put("CAY_CLIENT", directory.toString());
        builder.environment().put("NO_UPDATE_NOTIFIER", "1");
        // A browser that is killed leaves its files there.
        builder.environment().put("TMPDIR", System.getProperty("java.io.tmpdir"));
        return builder;
    }

    private static void run(Path directory, List<String> command) throws IOException, InterruptedException {
        var log = directory.resolve("install.log").toFile();
        var process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log)
                .start();
        if (!process.waitFor(INSTALL_MINUTES, MINUTES)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        if (process.waitFor() != 0) {
            throw new IOException(
                    String.join(" ", command) + " failed:\n" + Files.readString(log.toPath(), StandardCharsets.UTF_8));
        }
    }
}
