package dev.cay.proxy;

import dev.cay.http.TestHttp;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// A server that says exactly what the test tells it to, good or bad.
final class RawServer implements AutoCloseable {
    private final ServerSocket server = new ServerSocket();
    private final BlockingQueue<Socket> accepted = new LinkedBlockingQueue<>();

    RawServer() throws IOException {
        server.bind(TestHttp.loopback());
        Thread.ofVirtual().start(() -> {
            try {
                while (true) {
                    accepted.add(server.accept());
                }
            } catch (IOException e) {
                // Closed.
            }
        });
    }

    Upstream upstream() {
        var address = (InetSocketAddress) server.getLocalSocketAddress();
        return new Upstream("k", address.getPort(), _ -> SocketChannel.open(address), null);
    }

    /// The next connection.
    Socket accept() throws IOException, InterruptedException {
        Socket socket = accepted.poll(20, TimeUnit.SECONDS);
        if (socket == null) {
            throw new IOException("no connection came");
        }
        socket.setSoTimeout(20_000);
        return socket;
    }

    /// Whether one more came, which nobody expected.
    boolean hasMore() {
        return !accepted.isEmpty();
    }

    static String head(Socket socket) throws IOException {
        InputStream in = socket.getInputStream();
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int one = in.read();
            if (one < 0) {
                throw new IOException("after: " + head);
            }
            head.append((char) one);
        }
        return head.toString();
    }

    static void write(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (var socket : accepted) {
            socket.close();
        }
    }
}
