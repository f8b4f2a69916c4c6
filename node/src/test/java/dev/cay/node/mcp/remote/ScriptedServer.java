package dev.cay.node.mcp.remote;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/// A server that answers each request with whatever bytes the script says, right or wrong.
final class ScriptedServer implements Closeable {
    interface Script {
        void answer(Asked asked, Answering out) throws IOException;
    }

    record Asked(String method, String target, Map<String, String> headers, String body) {
        String header(String name) {
            return headers.getOrDefault(name, "");
        }

        boolean is(String rpc) {
            return body.contains("\"method\":\"" + rpc + "\"");
        }

        /// Of the message in the body, as it stands there.
        String id() {
            return body.replaceAll("(?s).*\"id\":(\"[^\"]*\"|\\d+).*", "$1");
        }
    }

    /// What an answer is written with.
    record Answering(OutputStream out) {
        void raw(String text) throws IOException {
            out.write(text.getBytes(StandardCharsets.UTF_8));
            out.flush();
        }

        void whole(String status, String headers, String body) throws IOException {
            int length = body.getBytes(StandardCharsets.UTF_8).length;
            raw("HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s".formatted(status, headers, length, body));
        }

        void json(String body) throws IOException {
            whole("200 OK", "Content-Type: application/json\r\n", body);
        }

        void accepted() throws IOException {
            whole("202 Accepted", "", "");
        }

        void redirect(int status, URI to) throws IOException {
            whole(status + " Elsewhere", "Location: " + to + "\r\n", "");
        }

        /// Ends when the script ends the connection.
        void stream() throws IOException {
            raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n");
        }

        void event(String data) throws IOException {
            raw("data: " + data + "\n\n");
        }

        void end() throws IOException {
            out.close();
        }
    }

    private final ServerSocket listening;
    private final boolean secure;
    private final Script script;
    private final List<Asked> asked = new CopyOnWriteArrayList<>();
    private final AtomicInteger connections = new AtomicInteger();
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();

    ScriptedServer(Script script) throws IOException {
        this("127.0.0.1", null, script);
    }

    ScriptedServer(String address, @Nullable SSLContext tls, Script script) throws IOException {
        this(address, 0, tls, script);
    }

    ScriptedServer(String address, int port, @Nullable SSLContext tls, Script script) throws IOException {
        this.secure = tls != null;
        this.script = script;
        var at = InetAddress.ofLiteral(address);
        this.listening = tls == null
                ? new ServerSocket(port, 50, at)
                : tls.getServerSocketFactory().createServerSocket(port, 50, at);
        Thread.startVirtualThread(this::accept);
    }

    URI url(String path) {
        return urlOf(listening.getInetAddress().getHostAddress(), path);
    }

    URI urlOf(String host, String path) {
        return URI.create("%s://%s:%d%s".formatted(secure ? "https" : "http", host, port(), path));
    }

    int port() {
        return listening.getLocalPort();
    }

    List<Asked> asked() {
        return asked;
    }

    int connections() {
        return connections.get();
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                var socket = listening.accept();
                connections.incrementAndGet();
                open.add(socket);
                Thread.startVirtualThread(() -> serve(socket));
            } catch (IOException _) {
                // Closed, or a handshake that came to nothing.
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            var in = new BufferedInputStream(socket.getInputStream());
            for (var request = read(in); request != null; request = read(in)) {
                asked.add(request);
                script.answer(request, new Answering(socket.getOutputStream()));
            }
        } catch (IOException _) {
            // The client has gone, which is its right.
        } finally {
            open.remove(socket);
        }
    }

    private static @Nullable Asked read(InputStream in) throws IOException {
        String[] first = line(in).split(" ");
        if (first.length < 2) {
            return null;
        }
        var headers = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            headers.put(line.split(":", 2)[0], line.split(":", 2)[1].strip());
        }
        int length = Integer.parseInt(headers.getOrDefault("Content-Length", "0"));
        return new Asked(first[0], first[1], headers, new String(in.readNBytes(length), StandardCharsets.UTF_8));
    }

    private static String line(InputStream in) throws IOException {
        var line = new StringBuilder();
        for (int next = in.read(); next >= 0 && next != '\n'; next = in.read()) {
            line.append((char) next);
        }
        return line.toString().strip();
    }

    @Override
    public void close() throws IOException {
        listening.close();
        for (var socket : open) {
            socket.close();
        }
    }
}
