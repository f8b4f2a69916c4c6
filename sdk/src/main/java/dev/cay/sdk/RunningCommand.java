package dev.cay.sdk;

import dev.cay.sdk.SandboxException.Kind;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import tools.jackson.databind.JsonNode;

/// A connection to a running command. Closing it disconnects; the command keeps running.
public final class RunningCommand implements AutoCloseable {
    private final Rpc rpc;
    private final Frames frames;
    private final int pid;
    private final Output stdout;
    private final Output stderr;
    private final CompletableFuture<CommandResult> end = new CompletableFuture<>();

    private RunningCommand(Rpc rpc, Frames frames, int pid, Command command) {
        this.rpc = rpc;
        this.frames = frames;
        this.pid = pid;
        this.stdout = new Output(command.onStdout(), command.outputLimit());
        this.stderr = new Output(command.onStderr(), command.outputLimit());
    }

    static RunningCommand following(Rpc rpc, Frames frames, Command command) {
        int pid = frames.first().path("event").path("start").path("pid").asInt(0);
        var running = new RunningCommand(rpc, frames, pid, command);
        Thread.ofVirtual().name("cay-sdk-command-" + pid).start(running::follow);
        return running;
    }

    private void follow() {
        try (frames) {
            for (var message = frames.next(); message.isPresent(); message = frames.next()) {
                take(message.get().path("event"));
            }
            end.completeExceptionally(new SandboxException(Kind.FAILED, "the command's end was not told"));
        } catch (RuntimeException e) {
            end.completeExceptionally(e);
        }
    }

    private void take(JsonNode event) {
        var data = event.path("data");
        if (data.path("stdout").isString()) {
            stdout.take(Base64.getDecoder().decode(data.path("stdout").asString()));
        }
        if (data.path("stderr").isString()) {
            stderr.take(Base64.getDecoder().decode(data.path("stderr").asString()));
        }
        var last = event.path("end");
        if (last.isObject()) {
            stdout.end();
            stderr.end();
            end.complete(new CommandResult(
                    last.path("exitCode").asInt(0),
                    stdout.kept().text(),
                    stderr.kept().text(),
                    last.path("error").isString() ? last.path("error").asString() : null,
                    stdout.kept().isCut() || stderr.kept().isCut()));
        }
    }

    /// Its process id inside the sandbox.
    public int pid() {
        return pid;
    }

    public boolean isRunning() {
        return !end.isDone();
    }

    /// Sends text to the standard input of a command that was started {@link Command#withStdin with stdin}.
    public void send(String text) {
        send(text.getBytes(StandardCharsets.UTF_8));
    }

    public void send(byte[] bytes) {
        String encoded = Base64.getEncoder().encodeToString(bytes);
        rpc.call("process.Process/SendInput", Map.of("process", Map.of("pid", pid), "input", Map.of("stdin", encoded)));
    }

    /// Closes its standard input.
    public void closeStdin() {
        rpc.call("process.Process/CloseStdin", selector(pid));
    }

    /// Waits for its end. Its own time limit and the sandbox's timeout bound the wait.
    public CommandResult await() {
        try {
            return end.get();
        } catch (InterruptedException e) {
            throw interrupted(e);
        } catch (ExecutionException e) {
            throw rethrown(e);
        }
    }

    /// Waits for its end.
    ///
    /// @throws SandboxException of kind TIMEOUT after the limit; the command keeps running
    public CommandResult await(Duration limit) {
        try {
            return end.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            throw interrupted(e);
        } catch (TimeoutException e) {
            throw new SandboxException(Kind.TIMEOUT, "command %d has not ended after %s".formatted(pid, limit), e);
        } catch (ExecutionException e) {
            throw rethrown(e);
        }
    }

    private SandboxException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new SandboxException(Kind.INTERRUPTED, "interrupted while command %d ran".formatted(pid), e);
    }

    /// A copy of the exception with the stack trace of the waiting thread, not the reading one.
    private static SandboxException rethrown(ExecutionException e) {
        return e.getCause() instanceof SandboxException told
                ? new SandboxException(told.kind(), String.valueOf(told.getMessage()), told)
                : new SandboxException(Kind.FAILED, "a listener failed: " + e.getCause(), e.getCause());
    }

    /// Kills it.
    ///
    /// @return whether it was still running
    public boolean kill() {
        return kill(rpc, pid);
    }

    static boolean kill(Rpc rpc, int pid) {
        try {
            rpc.call("process.Process/SendSignal", Map.of("process", Map.of("pid", pid), "signal", "SIGNAL_SIGKILL"));
            return true;
        } catch (SandboxException e) {
            if (e.kind() == Kind.NOT_FOUND) {
                return false;
            }
            throw e;
        }
    }

    static Map<String, ?> selector(int pid) {
        return Map.of("process", Map.of("pid", pid));
    }

    @Override
    public void close() {
        frames.close();
    }
}
