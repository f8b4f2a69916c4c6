package dev.cay.node.egress;

import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.TcpSocket;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/// Bytes both ways between a sandbox and a server, through a pipe in the kernel: the node does not see them.
/// Back-pressure is the kernel's: a side that does not read fills one pipe, and then its peer's socket.
///
/// A {@link RelayLoop} moves the bytes; all that is not final or volatile belongs to its thread.
final class Relay {
    /// Most bytes of one connection that are moved before others get their turn.
    private static final int MOST_AT_ONCE = 1 << 20;

    private final Pipes pipes;
    private final Runnable broken;
    private final Direction up;
    private final Direction down;
    private final CountDownLatch over = new CountDownLatch(1);
    private volatile boolean sending;
    private volatile boolean connected;
    private volatile boolean stopped;
    private volatile @Nullable IOException failure;
    private final long began = System.nanoTime();
    private long touched = began;
    private byte[] head = {};
    private int sentOfHead;

    /// @param broken runs on the loop's thread when one side breaks off; must not block
    Relay(EgressSocket guest, EgressSocket server, Pipes pipes, Runnable broken, LongAdder sent, LongAdder received) {
        this.pipes = pipes;
        this.broken = broken;
        this.up = new Direction(guest, server, sent);
        this.down = new Direction(server, guest, received);
    }

    EgressSocket guest() {
        return up.from;
    }

    EgressSocket server() {
        return up.to;
    }

    /// Sets bytes that are sent to the server first. Call this once, before the loop gets the relay.
    void send(byte[] bytes) {
        head = bytes;
    }

    /// Starts to move bytes of the sandbox too. Until then only the server's are moved, and another thread may read and
    /// write the sandbox's.
    void sendRest() {
        sending = true;
    }

    /// Whether the server has taken the connection.
    boolean connected() {
        return connected;
    }

    /// Waits until both sides have sent all.
    ///
    /// @throws IOException if one of them broke off
    void await() throws IOException, InterruptedException {
        over.await();
        var why = failure;
        if (why != null) {
            throw why;
        }
    }

    /// Makes {@link #await} return. The caller closes the sockets.
    void stop() {
        stopped = true;
        over.countDown();
    }

    /// Whether nothing will be moved any more.
    boolean ended() {
        return stopped || over.getCount() == 0;
    }

    /// Moves what can be moved now. To be called by the loop alone.
    ///
    /// @return whether there may be more
    boolean move() {
        if (ended()) {
            return false;
        }
        try {
            if (!connected && !sendHead()) {
                return false;
            }
            boolean more = down.move();
            if (sending) {
                more |= up.move();
            }
            if (up.done && down.done) {
                over.countDown();
            }
            return more;
        } catch (IOException e) {
            fail(e);
            return false;
        } catch (RuntimeException e) {
            fail(new IOException("bytes cannot be moved", e));
            return false;
        }
    }

    /// Sends the first bytes. A socket that is still connecting behaves like one whose buffer is full.
    private boolean sendHead() throws IOException {
        var server = server().descriptor();
        if (head.length == 0) {
            // Connected before.
            connected = true;
            return true;
        }
        while (sentOfHead < head.length) {
            try {
                sentOfHead += DescriptorIo.write(server, head, sentOfHead, head.length - sentOfHead);
            } catch (ErrnoException e) {
                if (e.errno() == Errno.EAGAIN) {
                    return false;
                }
                throw sentOfHead == 0 ? (IOException) new ConnectException(e.getMessage()).initCause(e) : e;
            }
        }
        up.count.add(head.length);
        connected = true;
        head = new byte[0];
        return true;
    }

    /// Silence of one direction is no reason to end while the other one is busy.
    void endIfIdle(Duration limit) {
        if (!connected && System.nanoTime() - began > Upstreams.DIAL.toNanos()) {
            fail(new SocketTimeoutException("no connection in time"));
            return;
        }
        if (System.nanoTime() - touched > limit.toNanos()) {
            fail(new SocketTimeoutException("the connection was idle"));
        }
    }

    void fail(IOException why) {
        failure = why;
        over.countDown();
        // Another address may do.
        if (connected) {
            broken.run();
        }
    }

    /// Gives pipes back. To be called by the loop alone, when nothing will be moved any more.
    void release() {
        up.release();
        down.release();
    }

    private final class Direction {
        private final EgressSocket from;
        private final EgressSocket to;
        private final LongAdder count;
        private DescriptorIo.@Nullable Pipe pipe;
        private int inPipe;
        private boolean done;

        Direction(EgressSocket from, EgressSocket to, LongAdder count) {
            this.from = from;
            this.to = to;
            this.count = count;
        }

        boolean move() throws IOException {
            int left = MOST_AT_ONCE;
            while (!done && left > 0) {
                int moved = inPipe > 0 ? empty() : fill();
                if (moved < 0) {
                    return false;
                }
                left -= moved;
            }
            return !done;
        }

        /// @return how many bytes left the pipe; negative if the receiver takes none now
        private int empty() throws IOException {
            var full = pipe;
            if (full == null) {
                throw new IllegalStateException("bytes without a pipe");
            }
            int moved = TcpSocket.splice(full.readEnd(), to.descriptor(), inPipe);
            if (moved == -Errno.EAGAIN) {
                return moved;
            }
            inPipe -= require(moved);
            count.add(moved);
            touched = System.nanoTime();
            return moved;
        }

        /// @return 0 if there is something in the pipe now, or will never be; negative if there is nothing
        /// now
        private int fill() throws IOException {
            var empty = pipe == null ? pipes.take() : pipe;
            pipe = empty;
            int moved = TcpSocket.splice(from.descriptor(), empty.writeEnd(), MOST_AT_ONCE);
            if (moved == -Errno.EAGAIN) {
                release();
                return moved;
            }
            inPipe = require(moved);
            if (moved == 0) {
                done = true;
                release();
                to.shutdownOutput();
            }
            return 0;
        }

        private static int require(int moved) throws ErrnoException {
            if (moved < 0) {
                throw new ErrnoException("splice", -moved);
            }
            return moved;
        }

        private void release() {
            var used = pipe;
            pipe = null;
            if (used != null && inPipe == 0) {
                pipes.give(used);
            } else if (used != null) {
                Pipes.drop(used);
            }
        }
    }
}
