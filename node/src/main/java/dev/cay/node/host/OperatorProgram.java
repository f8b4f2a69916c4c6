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

    /// Time for reading the rest of the pipe after the program has ended.
    private static final Duration READ_LIMIT = Duration.ofSeconds(5);

    public OperatorProgram {
        command = List.copyOf(command);
    }

    /// @param complaint the beginning of its standard error
    public record Answer(int exit, byte[] output, String complaint) {}

    /// Runs the program with this input, waits for its end, and ends all its children. It is also ended when it
    /// takes too long, writes too much, or its caller is interrupted. A program that cannot be started has exit
    /// 127, as in a shell.
    ///
    /// @param most most bytes of the answer
    /// @throws CayException with the end of a sentence that begins with the program's name
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
            // A child that keeps running would hold the output open for ever.
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

    /// Reads the answer. A program that writes too much is ended, because it would block.
    private static byte[] answer(Process process, int most) throws IOException {
        byte[] answer = process.getInputStream().readNBytes(most + 1);
        if (answer.length > most) {
            end(process);
        }
        return answer;
    }

    /// Starts it in a process group of its own, which is ended as a whole.
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

    /// Reads to the end and keeps the beginning, because the program must not block on its stderr.
    private static String beginning(InputStream in) throws IOException {
        byte[] first = in.readNBytes(LONGEST_COMPLAINT);
        in.transferTo(OutputStream.nullOutputStream());
        return new String(first, StandardCharsets.UTF_8).strip();
    }

    /// @param limit for the error message
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

    /// Ends the group, also children whose parent has ended, and the program itself if it has no group yet.
    private static void end(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        // By its handle: destroying the process object would also close the streams that are being read.
        process.toHandle().destroyForcibly();
        ProcessGroups.kill(process.pid());
    }

    /// Its name without arguments, which may be credentials.
    @Override
    public String toString() {
        return command.isEmpty() ? "" : command.getFirst();
    }
}
