package dev.cay.bench;

import dev.cay.life.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// The container runtime alone, without Cay: what every figure of a sandbox's start is compared with. Runs the same
/// template read-only, with runc's own default settings.
final class Runc implements AutoCloseable {
    private static final Path LAYERS = Path.of("/var/cache/cay/layers");
    private static final int LIMIT_SECONDS = 30;

    private static final List<String> COMMAND = List.of("/bin/bash", "-l", "-c", "echo hi");

    private final Path rootfs = findRootfs();
    private final Path directory = Files.createTempDirectory("cay-runc-");
    private final String prefix = "caybench" + ProcessHandle.current().pid() + "-";
    private int count;

    Runc() throws IOException {
        this(List.of("/bin/sleep", "600"));
    }

    /// @param program what containers run
    Runc(List<String> program) throws IOException {
        call(directory, List.of("runc", "spec"));
        var file = directory.resolve("config.json");
        var config = (ObjectNode) JsonMapper.shared().readTree(Files.readAllBytes(file));
        config.withObject("/root").put("path", rootfs.toString());
        var arguments = config.withObject("/process").put("terminal", false).putArray("args");
        program.forEach(arguments::add);
        config.withObject("/linux").put("cgroupsPath", "/" + prefix);
        Files.write(file, JsonMapper.shared().writeValueAsBytes(config));
    }

    private static Path findRootfs() throws IOException {
        try (var found = Files.newDirectoryStream(LAYERS, "base-*")) {
            for (var layer : found) {
                return layer.resolve("rootfs");
            }
        }
        throw new IOException("no base template in " + LAYERS);
    }

    /// Starts a container, and returns its name once it runs.
    String run() {
        String name = prefix + count++;
        call(directory, List.of("runc", "run", "--detach", "--bundle", directory.toString(), name));
        return name;
    }

    /// Saves a container, which ends with it.
    ///
    /// @param criu   the program to do it with
    /// @param images where to; absent yet
    void checkpoint(String name, Path criu, Path images) {
        call(
                directory,
                List.of("runc", "--criu", criu.toString(), "checkpoint", "--image-path", images.toString(), name));
    }

    void restore(String name, Path criu, Path images) {
        call(
                directory,
                List.of(
                        "runc",
                        "--criu",
                        criu.toString(),
                        "restore",
                        "--detach",
                        "--image-path",
                        images.toString(),
                        "--bundle",
                        directory.toString(),
                        name));
    }

    /// The host's number for a container's first process.
    long firstProcess(String name) throws IOException {
        return JsonMapper.shared()
                .readTree(Files.readAllBytes(Path.of("/run/runc", name, "state.json")))
                .path("init_process_pid")
                .asLong();
    }

    /// The command that figures are about, in a container that runs.
    void exec(String name) {
        var words = new ArrayList<>(List.of("runc", "exec", name));
        words.addAll(COMMAND);
        call(directory, words);
    }

    /// The same command without a container, but with the template's bash and profile: what a login shell does differs
    /// much from host to host.
    void onHost() {
        var words = new ArrayList<>(List.of("/usr/sbin/chroot", rootfs.toString()));
        words.addAll(COMMAND);
        call(directory, words);
    }

    void delete(String name) {
        call(directory, List.of("runc", "delete", "--force", name));
    }

    /// Milliseconds that a program takes, from its start to its end.
    static double time(Runnable work) {
        long began = System.nanoTime();
        work.run();
        return (System.nanoTime() - began) / 1e6;
    }

    /// Runs a program with its output in nobody's hands.
    static void call(Path directory, List<String> words) {
        try {
            var builder = new ProcessBuilder(words).directory(directory.toFile());
            builder.environment().keySet().retainAll(Set.of("PATH", "HOME"));
            var process = builder.redirectInput(Path.of("/dev/null").toFile())
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IllegalStateException(String.join(" ", words) + " failed");
            }
        } catch (IOException e) {
            throw new IllegalStateException("cannot run " + words.getFirst(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    @Override
    public void close() throws IOException {
        Trees.delete(directory);
    }
}
