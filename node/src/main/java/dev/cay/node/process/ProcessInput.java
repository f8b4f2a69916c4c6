package dev.cay.node.process;

import dev.cay.node.guest.Streams;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The input of a process: its stdin pipe or its terminal. Inputs are written one after the other, each as a whole.
public final class ProcessInput {
    private static final int CHUNK = 64 << 10;
    private static final Duration STUCK = Duration.ofSeconds(5);

    private final TableParts parts;
    private final int pid;
    private final boolean terminal;
    /// The terminal that an older guest shares with the sandbox.
    private final @Nullable Descriptor master;
    private final @Nullable Descriptor stdin;
    private final ReentrantLock turn = new ReentrantLock();

    /// @param terminal whether the process has one
    /// @param streams  null when it has ended
    ProcessInput(TableParts parts, int pid, boolean terminal, @Nullable Streams streams) {
        this.parts = parts;
        this.pid = pid;
        this.terminal = terminal;
        this.master = streams == null ? null : streams.master();
        this.stdin = streams == null ? null : streams.stdin();
    }

    public void writeStdin(byte[] bytes) throws IOException {
        if (terminal) {
            throw new CayException(ErrorKind.FAILED, "tty assigned to process, input should be written to the pty");
        }
        write(stdin, "stdin", bytes);
    }

    public void writeTerminal(byte[] bytes) throws IOException {
        if (!terminal) {
            throw new CayException(ErrorKind.FAILED, "tty not assigned to process");
        }
        write(master != null ? master : stdin, "terminal", bytes);
    }

    /// The process reads the end of its input. Closing it twice is no error.
    public void closeStdin() throws IOException {
        if (terminal) {
            throw new CayException(ErrorKind.UNKNOWN, "cannot close stdin of a terminal, send Ctrl+D (0x04) instead");
        }
        if (stdin == null || stdin.closed()) {
            return;
        }
        takeTurn();
        try {
            parts.guest().closeStdin(pid);
            stdin.close();
        } finally {
            turn.unlock();
        }
    }

    private void write(@Nullable Descriptor target, String name, byte[] bytes) throws IOException {
        if (target == null || target.closed()) {
            throw new CayException(ErrorKind.FAILED, name + " is not open");
        }
        takeTurn();
        try {
            long deadline = System.nanoTime() + parts.settings().inputLimit().toNanos();
            for (int done = 0; done < bytes.length; ) {
                done += writeSome(target, bytes, done, deadline);
            }
        } catch (ErrnoException e) {
            throw new CayException(ErrorKind.FAILED, "cannot write to %s: %s".formatted(name, e.getMessage()), e);
        } finally {
            turn.unlock();
        }
    }

    private int writeSome(Descriptor target, byte[] bytes, int offset, long deadline) throws IOException {
        try {
            int length = Math.min(CHUNK, bytes.length - offset);
            return target.equals(master)
                    ? parts.terminals().write(target, bytes, offset, length)
                    : parts.workers().guests().call(STUCK, () -> DescriptorIo.write(target, bytes, offset, length));
        } catch (ErrnoException e) {
            if (e.errno() != Errno.EAGAIN) {
                throw e;
            }
        }
        var left = Duration.ofNanos(deadline - System.nanoTime());
        if (left.isNegative() || !parts.workers().poller().awaitWritable(target, left)) {
            throw new CayException(ErrorKind.DEADLINE_EXCEEDED, "the process does not read its input");
        }
        return 0;
    }

    private void takeTurn() {
        try {
            if (turn.tryLock(parts.settings().inputLimit().toNanos(), TimeUnit.NANOSECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new CayException(ErrorKind.DEADLINE_EXCEEDED, "an earlier input is still waiting to be read");
    }

    /// Closes the node's descriptor; the guest keeps its own, so the process sees no end of input.
    void release() {
        if (stdin != null) {
            stdin.close();
        }
    }
}
