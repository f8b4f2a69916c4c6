package dev.cay.server;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A receiver of webhooks on a loopback port, which answers as a test wants it.
final class Receiver implements AutoCloseable {
    /// What came in.
    ///
    /// @param headers by names in any case
    record Request(Map<String, String> headers, String body, int answered) {
        JsonNode json() {
            return JsonMapper.shared().readTree(body);
        }

        String label() {
            return json().get("eventLabel").stringValue();
        }

        String sandbox() {
            return json().get("sandboxId").stringValue();
        }

        String id() {
            return json().get("id").stringValue();
        }
    }

    /// The request is never answered.
    static final int HANG = -1;
    /// The connection is closed without an answer.
    static final int BREAK = -2;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final CountDownLatch closed = new CountDownLatch(1);
    final List<Request> requests = new CopyOnWriteArrayList<>();
    volatile int status = 200;
    /// What is answered with 500 whatever the status says.
    volatile Predicate<Request> refuses = _ -> false;
    /// Called when a request has come in, before it is answered.
    volatile Runnable onRequest = () -> {};
    volatile String location = "";

    Receiver() throws IOException {
        this(0);
    }

    Receiver(int port) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port), 100);
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            var headers = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
            exchange.getRequestHeaders().forEach((name, values) -> headers.put(name, values.getFirst()));
            var body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            int answer = refuses.test(new Request(headers, body, 0)) ? 500 : status;
            requests.add(new Request(headers, body, answer));
            onRequest.run();
            if (answer == HANG) {
                closed.await();
            }
            if (answer < 0) {
                throw new IOException("no answer");
            }
            if (!location.isEmpty()) {
                exchange.getResponseHeaders().set("Location", location);
            }
            byte[] text = "said %d".formatted(answer).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(answer, answer == 204 ? -1 : text.length);
            if (answer != 204) {
                exchange.getResponseBody().write(text);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    int port() {
        return server.getAddress().getPort();
    }

    String url() {
        return "http://127.0.0.1:%d/hook?a=b".formatted(port());
    }

    /// What was taken, in its order, in one word each.
    List<String> taken(String sandbox) {
        return requests.stream()
                .filter(request -> request.answered() / 100 == 2)
                .filter(request -> request.sandbox().equals(sandbox))
                .map(Request::label)
                .toList();
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
        threads.shutdownNow();
    }
}
