package dev.cay.node.egress;

import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.TcpSocket;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/// Bytes both ways between a sandbox and a server, through a pipe in the kernel: the node does not see them.
/// Back-pressure is the kernel's: a side that does not read fills one pipe, and then its peer's socket.
final class Relay {
    private static final int MOST_AT_ONCE = 1 << 20;

    private final EgressSocket guest;
    private final EgressSocket server;
    private final Pipes pipes;
    private final Duration idle;
    private final LongAdder sent;
    private final LongAdder received;
    private volatile long touched = System.nanoTime();

    /// @param idle how long both directions may be silent
    Relay(EgressSocket guest, EgressSocket server, Pipes pipes, Duration idle, LongAdder sent, LongAdder received) {
        this.guest = guest;
        this.server = server;
        this.pipes = pipes;
        this.idle = idle;
        this.sent = sent;
        this.received = received;
    }

    /// From the sandbox to the server, until the sandbox has sent all.
    void up() throws IOException {
        copy(guest, server, sent);
    }

    /// From the server to the sandbox.
    void down() throws IOException {
        copy(server, guest, received);
    }

    private void copy(EgressSocket from, EgressSocket to, LongAdder count) throws IOException {
        DescriptorIo.Pipe pipe = null;
        try {
            while (true) {
                pipe = pipe == null ? pipes.take() : pipe;
                int moved = TcpSocket.splice(from.descriptor(), pipe.writeEnd(), MOST_AT_ONCE);
                if (moved == -Errno.EAGAIN) {
                    pipes.give(pipe);
                    pipe = null;
                    await(from, true);
                } else if (moved == 0) {
                    to.shutdownOutput();
                    return;
                } else {
                    require(moved);
                    empty(pipe, to, moved);
                    count.add(moved);
                    touched = System.nanoTime();
                }
            }
        } catch (IOException | RuntimeException e) {
            pipe = drop(pipe);
            throw e;
        } finally {
            if (pipe != null) {
                pipes.give(pipe);
            }
        }
    }

    private void empty(DescriptorIo.Pipe pipe, EgressSocket to, int count) throws IOException {
        int left = count;
        while (left > 0) {
            int moved = TcpSocket.splice(pipe.readEnd(), to.descriptor(), left);
            if (moved == -Errno.EAGAIN) {
                await(to, false);
            } else {
                require(moved);
                left -= moved;
            }
        }
    }

    /// Silence of one direction is no reason to end while the other one is busy.
    private void await(EgressSocket socket, boolean reads) throws IOException {
        while (true) {
            long left = idle.toNanos() - (System.nanoTime() - touched);
            if (left <= 0) {
                throw new SocketTimeoutException("the connection was idle");
            }
            var limit = Duration.ofNanos(left);
            if (reads ? socket.awaitReadable(limit) : socket.awaitWritable(limit)) {
                return;
            }
        }
    }

    private static void require(int moved) throws ErrnoException {
        if (moved < 0) {
            throw new ErrnoException("splice", -moved);
        }
    }

    private static DescriptorIo.@Nullable Pipe drop(DescriptorIo.@Nullable Pipe pipe) {
        if (pipe != null) {
            Pipes.drop(pipe);
        }
        return null;
    }
}
