package dev.cay.node.host;

import dev.cay.node.linux.ProcessGroups;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// A program of the operator's that is given a question on its standard input and answers on its standard output. It
/// runs on the host, with the rights of the daemon.
///
/// Pipes are read and written on platform threads, as a blocking read would hold a virtual thread's carrier.
public record OperatorProgram(List<String> command) {
    private static final int LONGEST_COMPLAINT = 4096;
    private static final Duration MOMENT = Duration.ofMillis(200);

    public OperatorProgram {
        command = List.copyOf(command);
    }

    /// @param complaint the beginning of what it wrote to its standard error
    public record Answer(int exit, byte[] output, String complaint) {}

    /// Asks and waits. A program that takes too long or says too much is ended with all it started, and so is one that
    /// nobody waits for any more. One that cannot be run at all is an exit of 127, as in a shell.
    ///
    /// @param most bytes of the answer
    /// @throws CayException with the end of a sentence that begins with what the program is called
    public Answer ask(byte[] question, int most, Duration limit) throws InterruptedException {
        Process process;
        try {
            process = start();
        } catch (IOException e) {
            return new Answer(127, new byte[0], "it cannot be run");
        }
        boolean done = false;
        try {
            long deadline = System.nanoTime() + limit.toNanos();
            var output = begun("answer", () -> process.getInputStream().readNBytes(most + 1));
            var complaint = begun("complaint", () -> beginning(process.getErrorStream()));
            var _ = begun("question", () -> tell(process, question));
            byte[] answer = get(output, deadline - System.nanoTime());
            if (answer.length > most) {
                throw new CayException(ErrorKind.EXHAUSTED, "answered more than %d bytes".formatted(most));
            }
            if (!process.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                throw new TimeoutException();
            }
            done = true;
            return new Answer(process.exitValue(), answer, soon(complaint));
        } catch (TimeoutException e) {
            throw new CayException(
                    ErrorKind.DEADLINE_EXCEEDED, "took longer than %d ms".formatted(limit.toMillis()), e);
        } finally {
            if (!done) {
                end(process);
            }
        }
    }

    /// In a group of its own, to be ended with all that belongs to it.
    private Process start() throws IOException {
        var line = new ArrayList<>(List.of("setsid"));
        line.addAll(command);
        return Programs.ofHost().builder(line).start();
    }

    private static <T> FutureTask<T> begun(String what, Callable<T> work) {
        var task = new FutureTask<>(work);
        Thread.ofPlatform().daemon().name("operator-" + what).start(task);
        return task;
    }

    private static boolean tell(Process process, byte[] question) throws IOException {
        try (var in = process.getOutputStream()) {
            in.write(question);
        }
        return true;
    }

    /// Reads to the end, as a program must not have to wait for whoever hears its complaints.
    private static String beginning(InputStream in) throws IOException {
        byte[] first = in.readNBytes(LONGEST_COMPLAINT);
        in.transferTo(OutputStream.nullOutputStream());
        return new String(first, StandardCharsets.UTF_8).strip();
    }

    private static <T> T get(FutureTask<T> task, long nanos) throws InterruptedException, TimeoutException {
        try {
            return task.get(Math.max(nanos, 1), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw new CayException(ErrorKind.INTERNAL, "could not be followed", e.getCause());
        }
    }

    private static String soon(FutureTask<String> complaint) throws InterruptedException {
        try {
            return get(complaint, MOMENT.toNanos());
        } catch (TimeoutException | CayException e) {
            return "";
        }
    }

    /// Also those whose parent is gone, and the program itself if it has not come to have a group yet.
    private static void end(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        ProcessGroups.kill(process.pid());
    }

    /// What it is called; arguments may be credentials.
    @Override
    public String toString() {
        return command.isEmpty() ? "" : command.getFirst();
    }
}
