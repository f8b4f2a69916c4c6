package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.RunFile;
import dev.cay.config.CayConfig;
import dev.cay.life.RootOnly;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/// Starts this program again in a session of its own, and shows its output until it is ready or has ended.
final class Background {
    /// The first start builds templates, which may take minutes; it is a stuck one that must not wait for ever.
    private static final Duration LIMIT = Duration.ofHours(1);

    /// Set in the process that was started so.
    static final String PROPERTY = "cay.detached";

    /// The last line of a start, by which a reader of the output knows that it is complete.
    static final String LAST_LINE = "Sandboxes keep running when it stops.";

    private static final Duration LOOK_EVERY = Duration.ofMillis(50);

    private final CayConfig config;
    private final ConfigOptions options;

    Background(CayConfig config, ConfigOptions options) {
        this.config = config;
        this.options = options;
    }

    int start(PrintStream out) throws IOException, InterruptedException {
        var running = LockHolder.settle(config, options, out);
        if (running.isPresent()) {
            out.println("already running, pid %d".formatted(running.get().pid()));
            return 0;
        }
        Path output = output();
        // setsid does not fork here: the child leads no group, so the pid stays the daemon's.
        var process = new ProcessBuilder(command())
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
                .redirectErrorStream(true)
                .start();
        return follow(process, output, out);
    }

    private int follow(Process process, Path output, PrintStream out) throws IOException, InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        try (var text = new RandomAccessFile(output.toFile(), "r")) {
            var shown = new StringBuilder();
            while (System.nanoTime() < end) {
                boolean gone = process.waitFor(LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS);
                boolean ready = RunFile.findReadable(config.runDir())
                        .filter(file -> file.pid() == process.pid())
                        .isPresent();
                shown.append(copy(text, out));
                if (gone) {
                    return process.exitValue() == 0 ? 1 : process.exitValue();
                }
                if (ready) {
                    showTheRest(text, out, shown);
                    return 0;
                }
            }
        }
        throw new CayException(
                ErrorKind.DEADLINE_EXCEEDED,
                "Cay (pid %d) is not ready after an hour; its output is in %s".formatted(process.pid(), output));
    }

    /// The run file is written just before the closing lines are printed.
    private static void showTheRest(RandomAccessFile text, PrintStream out, StringBuilder shown)
            throws IOException, InterruptedException {
        long end = System.nanoTime() + Duration.ofSeconds(2).toNanos();
        while (shown.indexOf(LAST_LINE) < 0 && System.nanoTime() < end) {
            TimeUnit.MILLISECONDS.sleep(LOOK_EVERY.toMillis());
            shown.append(copy(text, out));
        }
    }

    private static String copy(RandomAccessFile text, PrintStream out) throws IOException {
        byte[] bytes = new byte[(int) Math.min(1 << 16, text.length() - text.getFilePointer())];
        text.readFully(bytes);
        String more = new String(bytes, StandardCharsets.UTF_8);
        out.print(more);
        out.flush();
        return more;
    }

    /// The file with the daemon's output.
    static Path output(Path stateDir) {
        return DaemonLog.directory(stateDir).resolve("up.out");
    }

    private Path output() throws IOException {
        RootOnly.directory(DaemonLog.directory(config.stateDir()));
        Path output = output(config.stateDir());
        Files.deleteIfExists(output);
        // It contains the first API key.
        Set<java.nio.file.attribute.PosixFilePermission> mine = PosixFilePermissions.fromString("rw-------");
        return Files.createFile(output, PosixFilePermissions.asFileAttribute(mine));
    }

    /// This process's command line without `--detach`. Read from `/proc`, because the JDK shortens long ones.
    private static List<String> command() throws IOException {
        String line = Files.readString(Path.of("/proc/self/cmdline"), StandardCharsets.UTF_8);
        var command = new ArrayList<>(List.of("setsid"));
        Arrays.stream(line.split("\0")).filter(word -> !word.equals("--detach")).forEach(command::add);
        command.add(2, "-D" + PROPERTY + "=true");
        return command;
    }
}
