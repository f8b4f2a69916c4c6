package dev.cay.node.host;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/// Runs the host's programs (`ip`, `nft`, `mmdebstrap`): arguments as a list, a limit on every wait, output kept.
///
/// Pipes are read on a platform thread of the call, as a blocking read would hold a virtual thread's carrier.
///
/// @param prefix what stands before every command, like `ip netns exec NAME`; empty on the host itself
public record Programs(List<String> prefix) {
    /// PATH including the directories of root's tools, which the path of a user who became root often lacks.
    private static final String PATH = path();

    private static final Duration MARGIN = Duration.ofSeconds(10);

    /// The exit and output of a program. Its two streams are one, in the order written.
    public record Result(int exit, String output) {
        public boolean ok() {
            return exit == 0;
        }
    }

    public Programs {
        prefix = List.copyOf(prefix);
    }

    public static Programs ofHost() {
        return new Programs(List.of());
    }

    /// Runs a program and returns any result; a missing program has exit 127, as in a shell.
    public Result run(Duration limit, String input, List<String> command) {
        var builder = builder(command).redirectErrorStream(true);
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            return new Result(127, "cannot run %s: %s".formatted(command.getFirst(), e.getMessage()));
        }
        return await(process, limit, command, () -> converse(process, input));
    }

    public Result run(Duration limit, String... command) {
        return run(limit, "", List.of(command));
    }

    /// Like {@link #run}, but any exit other than 0 throws with the program's output.
    public String require(Duration limit, String input, List<String> command) {
        var result = run(limit, input, command);
        if (!result.ok()) {
            throw new CayException(
                    ErrorKind.INTERNAL,
                    "%s failed (%d): %s"
                            .formatted(
                                    describe(command),
                                    result.exit(),
                                    result.output().strip()));
        }
        return result.output();
    }

    public String require(Duration limit, String... command) {
        return require(limit, "", List.of(command));
    }

    /// Runs a long command and passes on each line of its output, on a thread of the call's own.
    ///
    /// @return the exit code; after the limit, and when interrupted, the program and its children are ended
    public int follow(Duration limit, Map<String, String> environment, List<String> command, Consumer<String> heard) {
        var builder = builder(bounded(limit, command))
                .redirectErrorStream(true)
                .redirectInput(Path.of("/dev/null").toFile());
        builder.environment().putAll(environment);
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            heard.accept("cannot run %s: %s".formatted(command.getFirst(), e.getMessage()));
            return 127;
        }
        return await(process, limit, command, () -> {
            try (var lines = process.inputReader()) {
                lines.lines().forEach(heard);
            }
            return process.waitFor();
        });
    }

    /// A daemon that is killed cannot end the command: then the command ends by itself.
    private static List<String> bounded(Duration limit, List<String> command) {
        var all = new ArrayList<String>();
        all.add("timeout");
        all.add("--signal=KILL");
        all.add(Long.toString(limit.plus(MARGIN).toSeconds()));
        all.addAll(command);
        return all;
    }

    private static <T> T await(Process process, Duration limit, List<String> command, Callable<T> work) {
        var task = new FutureTask<>(work);
        Thread.ofPlatform().daemon().name("program-" + command.getFirst()).start(task);
        try {
            return task.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new CayException(ErrorKind.DEADLINE_EXCEEDED, describe(command) + " took longer than " + limit, e);
        } catch (ExecutionException e) {
            throw new CayException(ErrorKind.INTERNAL, describe(command) + " could not be followed", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, describe(command) + " was interrupted", e);
        } finally {
            end(process);
        }
    }

    ProcessBuilder builder(List<String> command) {
        var all = new ArrayList<>(prefix);
        all.addAll(command);
        all.set(0, find(all.getFirst()).map(Path::toString).orElse(all.getFirst()));
        var builder = new ProcessBuilder(all);
        builder.environment().put("LC_ALL", "C.UTF-8");
        builder.environment().put("PATH", PATH);
        return builder;
    }

    /// The path of a program. Its children use the PATH given here, but the program itself would be searched on the
    /// JVM's.
    public static Optional<Path> find(String program) {
        return Arrays.stream(PATH.split(":"))
                .filter(directory -> !directory.isEmpty())
                .map(directory -> Path.of(directory, program))
                .filter(file -> Files.isExecutable(file) && !Files.isDirectory(file))
                .findFirst();
    }

    /// As {@link #find}, but fails without the program.
    public static Path require(String program) {
        return find(program)
                .orElseThrow(() ->
                        new CayException(ErrorKind.UNAVAILABLE, "%s is not installed on this host".formatted(program)));
    }

    private static String path() {
        String given = System.getenv("PATH");
        String system = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";
        return given == null || given.isEmpty() ? system : given + ":" + system;
    }

    private static Result converse(Process process, String input) throws IOException, InterruptedException {
        try (var in = process.getOutputStream()) {
            in.write(input.getBytes(StandardCharsets.UTF_8));
        } catch (IOException _) {
            // The program did not read all of its input; its exit code says whether that matters.
        }
        String output;
        try (var out = process.getInputStream()) {
            output = new String(out.readAllBytes(), StandardCharsets.UTF_8);
        }
        return new Result(process.waitFor(), output);
    }

    private static void end(Process process) {
        if (process.isAlive()) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private static String describe(List<String> command) {
        return String.join(" ", command.subList(0, Math.min(4, command.size())));
    }
}
