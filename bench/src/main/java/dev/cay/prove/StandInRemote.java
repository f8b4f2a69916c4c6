package dev.cay.prove;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// Remote MCP servers on loopback, one under the path of each key, by both transports. It remembers the headers of the
/// calls to each.
final class StandInRemote implements AutoCloseable {
    private static final String JSON = "application/json";

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, Map<String, String>> headers = new ConcurrentHashMap<>();
    private final Map<String, LinkedBlockingQueue<String>> streams = new ConcurrentHashMap<>();
    private volatile boolean closed;

    StandInRemote() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    String url(String key) {
        return "http://127.0.0.1:%d/%s".formatted(server.getAddress().getPort(), key);
    }

    /// Headers of the last request for a key, with names in small letters.
    Map<String, String> headers(String key) {
        return headers.getOrDefault(key, Map.of());
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String[] path = exchange.getRequestURI().getPath().split("/");
            String key = path.length > 1 ? path[1] : "";
            var seen = new HashMap<String, String>();
            exchange.getRequestHeaders()
                    .forEach((name, values) -> seen.put(name.toLowerCase(Locale.ROOT), values.getFirst()));
            headers.put(key, seen);
            switch (exchange.getRequestMethod()) {
                case "GET" -> stream(exchange, key);
                case "POST" -> post(exchange, key, path.length > 2);
                default -> exchange.sendResponseHeaders(405, -1);
            }
        }
    }

    /// The stream of the older transport. The newer one does without, where a server has none.
    private void stream(HttpExchange exchange, String key) throws IOException {
        if (!String.valueOf(exchange.getRequestURI().getQuery()).equals("sse")) {
            exchange.sendResponseHeaders(405, -1);
            return;
        }
        var messages = new LinkedBlockingQueue<String>();
        streams.put(key, messages);
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        var out = exchange.getResponseBody();
        event(out, "endpoint", "/" + key + "/messages");
        try {
            while (!closed) {
                String next = messages.poll(1, TimeUnit.SECONDS);
                if (next != null) {
                    event(out, "message", next);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void event(OutputStream out, String name, String data) throws IOException {
        out.write("event: %s\ndata: %s\n\n".formatted(name, data).getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private void post(HttpExchange exchange, String key, boolean older) throws IOException {
        var request = JsonMapper.shared().readTree(exchange.getRequestBody().readAllBytes());
        byte[] response = request.has("id") ? JsonMapper.shared().writeValueAsBytes(response(request)) : new byte[0];
        if (older) {
            var stream = streams.get(key);
            if (stream != null && response.length > 0) {
                stream.add(new String(response, StandardCharsets.UTF_8));
            }
            exchange.sendResponseHeaders(202, -1);
        } else if (response.length == 0) {
            exchange.sendResponseHeaders(202, -1);
        } else {
            exchange.getResponseHeaders().set("Content-Type", JSON);
            exchange.sendResponseHeaders(200, response.length);
            exchange.getResponseBody().write(response);
        }
    }

    private static ObjectNode response(JsonNode request) {
        var response = JsonMapper.shared().createObjectNode().put("jsonrpc", "2.0");
        response.set("id", request.path("id"));
        var result = response.putObject("result");
        switch (request.path("method").asString("")) {
            case "initialize" -> {
                result.put(
                        "protocolVersion", request.at("/params/protocolVersion").asString());
                result.putObject("capabilities").putObject("tools");
                result.putObject("serverInfo").put("name", "stand-in").put("version", "1");
            }
            case "tools/list" ->
                result.putArray("tools")
                        .addObject()
                        .put("name", "tell")
                        .put("description", "A stand-in.")
                        .putObject("inputSchema")
                        .put("type", "object");
            default -> result.putArray("content");
        }
        return response;
    }

    @Override
    public void close() {
        closed = true;
        server.stop(0);
        threads.shutdownNow();
    }
}
