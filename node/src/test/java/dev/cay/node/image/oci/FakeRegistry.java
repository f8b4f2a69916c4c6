package dev.cay.node.image.oci;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/// A registry on loopback that answers what a test wants, also lies.
final class FakeRegistry implements AutoCloseable {
    /// Answers a request; one that does not is refused with 404.
    interface Answer {
        void to(HttpExchange exchange) throws IOException;
    }

    final List<String> requests = new CopyOnWriteArrayList<>();
    final List<String> authorizations = new CopyOnWriteArrayList<>();

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, Answer> answers = new ConcurrentHashMap<>();

    FakeRegistry() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().toString();
            requests.add(path);
            String authorization = exchange.getRequestHeaders().getFirst("Authorization");
            authorizations.add(path + " " + authorization);
            var answer = answers.get(exchange.getRequestURI().getPath());
            if (answer == null) {
                send(exchange, 404, new byte[0]);
            } else {
                answer.to(exchange);
            }
        }
    }

    FakeRegistry on(String path, Answer answer) {
        answers.put(path, answer);
        return this;
    }

    /// Has an image, with right answers to all requests.
    FakeRegistry image(String repository, String tag, TestImage image) {
        manifest(repository, tag, image.mediaType, image.manifest());
        blob(repository, image.config());
        image.layers.forEach(layer -> blob(repository, layer));
        return this;
    }

    FakeRegistry manifest(String repository, String tag, String mediaType, byte[] bytes) {
        Answer answer = exchange -> {
            exchange.getResponseHeaders().set("Content-Type", mediaType);
            send(exchange, 200, bytes);
        };
        on("/v2/%s/manifests/%s".formatted(repository, tag), answer);
        return on("/v2/%s/manifests/%s".formatted(repository, Digest.of(bytes)), answer);
    }

    FakeRegistry blob(String repository, byte[] bytes) {
        return on(blobPath(repository, bytes), exchange -> send(exchange, 200, bytes));
    }

    static String blobPath(String repository, byte[] bytes) {
        return "/v2/%s/blobs/%s".formatted(repository, Digest.of(bytes));
    }

    static void send(HttpExchange exchange, int status, byte[] bytes) throws IOException {
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        if (bytes.length > 0) {
            exchange.getResponseBody().write(bytes);
        }
    }

    String host() {
        return "127.0.0.1:" + server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
