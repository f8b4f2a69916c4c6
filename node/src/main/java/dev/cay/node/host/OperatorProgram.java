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

    /// For what is in the pipe when the program has ended.
    private static final Duration READ_LIMIT = Duration.ofSeconds(5);

    public OperatorProgram {
        command = List.copyOf(command);
    }

    /// @param complaint the beginning of what it wrote to its standard error
    public record Answer(int exit, byte[] output, String complaint) {}

    /// Asks and waits until it ends, and ends all that it started. A program that takes too long or says too much is
    /// ended too, and so is one that nobody waits for any more. One that cannot be run at all has exit 127, as in
    /// a shell.
    ///
    /// @param most bytes of the answer
    /// @throws CayException with the end of a sentence that begins with what the program is called
    public Answer ask(byte[] question, int most, Duration limit) throws InterruptedException {
        Process process;
        try {
            process = start();
        } catch (IOException e) {
            return new Answer(127, new byte[0], "it cannot be run: " + e.getMessage());
        }
        var output = begun("answer", () -> answer(process, most));
        var complaint = begun("complaint", () -> beginning(process.getErrorStream()));
        var _ = begun("question", () -> tell(process, question));
        boolean ended = false;
        try {
            ended = process.waitFor(limit.toNanos(), TimeUnit.NANOSECONDS);
        } finally {
            // What it left running would hold its output open for ever.
            end(process);
        }
        byte[] answer = get(output, READ_LIMIT, limit);
        if (answer.length > most) {
            throw new CayException(ErrorKind.EXHAUSTED, "answered more than %d bytes".formatted(most));
        }
        if (!ended) {
            throw late(limit);
        }
        return new Answer(process.exitValue(), answer, soon(complaint));
    }

    private static CayException late(Duration limit) {
        return new CayException(ErrorKind.DEADLINE_EXCEEDED, "took longer than %d ms".formatted(limit.toMillis()));
    }

    /// Whoever says too much is ended, as it would wait for us to hear the rest.
    private static byte[] answer(Process process, int most) throws IOException {
        byte[] answer = process.getInputStream().readNBytes(most + 1);
        if (answer.length > most) {
            end(process);
        }
        return answer;
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

    /// @param limit what is told of when it takes too long
    private static <T> T get(FutureTask<T> task, Duration patience, Duration limit) throws InterruptedException {
        try {
            return task.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw late(limit);
        } catch (ExecutionException e) {
            throw new CayException(ErrorKind.INTERNAL, "could not be followed", e.getCause());
        }
    }

    private static String soon(FutureTask<String> complaint) throws InterruptedException {
        try {
            return get(complaint, MOMENT, MOMENT);
        } catch (CayException e) {
            return "";
        }
    }

    /// Also those whose parent is gone, and the program itself if it has not come to have a group yet.
    private static void end(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        // Through the handle: the process itself would also close what is being read.
        process.toHandle().destroyForcibly();
        ProcessGroups.kill(process.pid());
    }

    /// What it is called; arguments may be credentials.
    @Override
    public String toString() {
        return command.isEmpty() ? "" : command.getFirst();
    }
}
