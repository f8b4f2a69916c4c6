package dev.cay.node.egress;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.TcpSocket;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ByteChannel;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/// A TCP connection by its descriptor. A virtual thread waits for it without blocking a carrier, one at a time. Closing
/// it from another thread ends every wait on it.
final class EgressSocket implements ByteChannel {
    /// The limit of reads and writes without a limit of their own; a caller that needs another one closes the socket.
    private static final Duration LONG = Duration.ofHours(1);

    private final Descriptor socket;
    private final Readiness readable;
    private final Readiness writable;
    private volatile Runnable onClose = () -> {};
    private volatile boolean closed;

    /// Takes the descriptor.
    EgressSocket(Descriptor socket, FdPoller poller) {
        this.socket = socket;
        this.readable = new Readiness(poller, socket, FdPoller.IN);
        this.writable = new Readiness(poller, socket, FdPoller.OUT);
    }

    /// A socket that is being connected. It takes no bytes before that has happened.
    static EgressSocket begin(InetSocketAddress address, FdPoller poller) throws IOException {
        var socket = new EgressSocket(TcpSocket.connect(address), poller);
        try {
            TcpSocket.tune(socket.socket);
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /// @throws java.net.ConnectException when the port is closed
    static EgressSocket connect(InetSocketAddress address, FdPoller poller, Duration limit) throws IOException {
        return connected(TcpSocket.connect(address), poller, limit);
    }

    /// The same from an address of this host; port 0 picks one.
    static EgressSocket connect(InetSocketAddress from, InetSocketAddress address, FdPoller poller, Duration limit)
            throws IOException {
        return connected(TcpSocket.connect(from, address), poller, limit);
    }

    private static EgressSocket connected(Descriptor connecting, FdPoller poller, Duration limit) throws IOException {
        var socket = new EgressSocket(connecting, poller);
        try {
            if (!TcpSocket.isConnected(connecting) && !socket.writable.await(limit)) {
                throw new SocketTimeoutException("no connection within " + limit.toSeconds() + " s");
            }
            TcpSocket.requireConnected(socket.socket);
            TcpSocket.tune(socket.socket);
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    Descriptor descriptor() {
        return socket;
    }

    /// What there is; -1 at the end.
    @Override
    public int read(ByteBuffer into) throws IOException {
        byte[] bytes = new byte[into.remaining()];
        int count = read(bytes, 0, bytes.length, LONG);
        if (count > 0) {
            into.put(bytes, 0, count);
        }
        return count;
    }

    /// Returns how many bytes were read; -1 at the end.
    ///
    /// @throws SocketTimeoutException when the limit has passed
    int read(byte[] into, int offset, int length, Duration limit) throws IOException {
        long end = System.nanoTime() + limit.toNanos();
        while (true) {
            try {
                int count = DescriptorIo.read(socket, into, offset, length);
                return count == 0 ? -1 : count;
            } catch (ErrnoException e) {
                if (e.errno() != Errno.EAGAIN) {
                    throw e;
                }
            }
            if (!readable.await(Duration.ofNanos(end - System.nanoTime()))) {
                throw new SocketTimeoutException("nothing came");
            }
        }
    }

    /// Writes all.
    @Override
    public int write(ByteBuffer from) throws IOException {
        byte[] bytes = new byte[from.remaining()];
        from.get(bytes);
        int at = 0;
        while (at < bytes.length) {
            try {
                at += DescriptorIo.write(socket, bytes, at, bytes.length - at);
                continue;
            } catch (ErrnoException e) {
                if (e.errno() != Errno.EAGAIN) {
                    throw e;
                }
            }
            if (!writable.await(LONG)) {
                throw new SocketTimeoutException("the peer does not read");
            }
        }
        return bytes.length;
    }

    /// Sets an action that runs before the descriptor is closed. Called by the creator.
    void onClose(Runnable action) {
        onClose = action;
    }

    void shutdownOutput() throws IOException {
        TcpSocket.shutdownOutput(socket);
    }

    /// Closes so that the peer sees a reset and not an orderly end.
    void cut() {
        TcpSocket.resetOnClose(socket);
        close();
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        onClose.run();
        readable.end();
        writable.end();
        socket.close();
    }

    /// One thread's wait for one side of the socket.
    private final class Readiness {
        private final Semaphore news = new Semaphore(0);
        private final FdPoller.Watch watch;

        Readiness(FdPoller poller, Descriptor descriptor, int events) {
            watch = poller.watch(descriptor, events, this::tell);
        }

        private void tell() {
            watch.pause();
            news.release();
        }

        boolean await(Duration limit) throws IOException {
            news.drainPermits();
            requireOpen();
            watch.resume();
            try {
                boolean told = news.tryAcquire(Math.max(0, limit.toNanos()), TimeUnit.NANOSECONDS);
                requireOpen();
                return told;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw (IOException) new InterruptedIOException("interrupted").initCause(e);
            } finally {
                watch.pause();
            }
        }

        private void requireOpen() throws IOException {
            if (closed) {
                throw new AsynchronousCloseException();
            }
        }

        void end() {
            watch.close();
            news.release();
        }
    }
}
