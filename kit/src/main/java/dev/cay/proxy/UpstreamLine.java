package dev.cay.proxy;

import java.io.Closeable;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLSocket;

/// The byte transport to a server: plain or TLS. One thread reads and another writes.
interface UpstreamLine extends Closeable {
    /// Reads as many bytes as are available and fit; -1 at the end.
    int read(ByteBuffer into) throws IOException;

    /// Writes some of it, or all.
    void write(ByteBuffer... buffers) throws IOException;

    void shutdownOutput() throws IOException;

    /// Whether the server has neither closed nor sent anything. Call this only while no other thread uses the
    /// connection.
    boolean silent();

    /// A plain transport.
    static UpstreamLine plain(SocketChannel channel) throws IOException {
        channel.configureBlocking(true);
        if (channel.supportedOptions().contains(StandardSocketOptions.TCP_NODELAY)) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }
        return new Plain(channel);
    }

    /// A TLS transport whose handshake is done.
    ///
    /// @param channel that carries it
    static UpstreamLine secured(SSLSocket socket, SocketChannel channel) {
        return new Secured(socket, channel, new byte[Secured.PIECE], new byte[Secured.PIECE]);
    }

    /// Whether a channel has neither bytes nor its end to read. A byte that it has is lost.
    private static boolean nothingToRead(SocketChannel channel) {
        try {
            channel.configureBlocking(false);
            int count = channel.read(ByteBuffer.allocate(1));
            channel.configureBlocking(true);
            return count == 0;
        } catch (IOException e) {
            return false;
        }
    }

    record Plain(SocketChannel channel) implements UpstreamLine {
        @Override
        public int read(ByteBuffer into) throws IOException {
            return channel.read(into);
        }

        @Override
        public void write(ByteBuffer... buffers) throws IOException {
            channel.write(buffers);
        }

        @Override
        public void shutdownOutput() throws IOException {
            channel.shutdownOutput();
        }

        @Override
        public boolean silent() {
            return nothingToRead(channel);
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /// @param in  the bytes that were read last
    /// @param out gathers small pieces, because a TLS record for each would cost more than copying
    record Secured(SSLSocket socket, SocketChannel channel, byte[] in, byte[] out) implements UpstreamLine {
        private static final int PIECE = 16 * 1024;

        @Override
        public int read(ByteBuffer into) throws IOException {
            int count = socket.getInputStream().read(in, 0, Math.min(in.length, into.remaining()));
            if (count > 0) {
                into.put(in, 0, count);
            }
            return count;
        }

        @Override
        public void write(ByteBuffer... buffers) throws IOException {
            int length = 0;
            for (ByteBuffer buffer : buffers) {
                int part = Math.min(out.length - length, buffer.remaining());
                buffer.get(out, length, part);
                length += part;
            }
            socket.getOutputStream().write(out, 0, length);
        }

        @Override
        public void shutdownOutput() throws IOException {
            socket.shutdownOutput();
        }

        /// Messages of TLS itself, like a session ticket, count as silence. To read them takes a wait of a millisecond,
        /// so that is done only when there is something to read.
        @Override
        public boolean silent() {
            try {
                return channel.socket().getInputStream().available() == 0
                        ? nothingToRead(channel)
                        : onlyMessagesOfTls();
            } catch (IOException _) {
                return false;
            }
        }

        private boolean onlyMessagesOfTls() {
            try {
                socket.setSoTimeout(1);
                socket.getInputStream().read();
                return false;
            } catch (SocketTimeoutException _) {
                return unlimited();
            } catch (IOException _) {
                return false;
            }
        }

        private boolean unlimited() {
            try {
                socket.setSoTimeout(0);
                return true;
            } catch (IOException _) {
                return false;
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
