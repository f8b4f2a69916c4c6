package dev.cay.proxy;

import java.io.Closeable;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLSocket;

/// How bytes get to a server and back: as they are, or by TLS. One thread reads and another writes.
interface UpstreamLine extends Closeable {
    /// Fewer bytes than there is room for; -1 at the end.
    int read(ByteBuffer into) throws IOException;

    /// Writes some of it, or all.
    void write(ByteBuffer... buffers) throws IOException;

    void shutdownOutput() throws IOException;

    /// Whether the server has neither closed nor said anything. Only while nobody else uses it.
    boolean silent();

    /// Without TLS.
    static UpstreamLine plain(SocketChannel channel) throws IOException {
        channel.configureBlocking(true);
        if (channel.supportedOptions().contains(StandardSocketOptions.TCP_NODELAY)) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }
        return new Plain(channel);
    }

    /// With TLS, whose handshake is done.
    static UpstreamLine secured(SSLSocket socket) {
        return new Secured(socket, new byte[Secured.PIECE], new byte[Secured.PIECE]);
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
            try {
                channel.configureBlocking(false);
                int count = channel.read(ByteBuffer.allocate(1));
                channel.configureBlocking(true);
                return count == 0;
            } catch (IOException e) {
                return false;
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /// @param in  what was read last
    /// @param out what is written next: a record of TLS for each small piece would cost more than to join them
    record Secured(SSLSocket socket, byte[] in, byte[] out) implements UpstreamLine {
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

        /// What TLS itself says, like a ticket for the next session, counts as silence.
        @Override
        public boolean silent() {
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
