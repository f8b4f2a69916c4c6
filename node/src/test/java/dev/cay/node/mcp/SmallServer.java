package dev.cay.node.mcp;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.cay.http.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// An MCP server over HTTP. Its tools say what they were called with; `slow` tells that it began and then waits until
/// it is called off, and `broken` fails.
final class SmallServer implements AutoCloseable {
    private final HttpServer http;
    private final List<String> tools;
    private final CountDownLatch end = new CountDownLatch(1);

    /// What was asked of it, but for greetings and lists.
    final BlockingQueue<JsonNode> heard = new LinkedBlockingQueue<>();

    /// What came as `Authorization` with each request; empty where none did.
    final Queue<String> credentials = new ConcurrentLinkedQueue<>();

    SmallServer(String... tools) throws IOException {
        this.tools = List.of(tools);
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        http.createContext("/", this::serve);
        http.start();
    }

    String url() {
        return "http://127.0.0.1:%d/mcp".formatted(http.getAddress().getPort());
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (!exchange.getRequestMethod().equals("POST")) {
                exchange.sendResponseHeaders(405, -1);
                return;
            }
            credentials.add(
                    Objects.requireNonNullElse(exchange.getRequestHeaders().getFirst("Authorization"), ""));
            var message = Json.mapper().readTree(exchange.getRequestBody().readAllBytes());
            switch (message.path("method").asString("")) {
                case "initialize" -> {
                    var result = Json.mapper().createObjectNode().put("protocolVersion", "2025-06-18");
                    result.putObject("capabilities").putObject("tools");
                    answer(exchange, message, result);
                }
                case "tools/list" -> answer(exchange, message, list());
                case "tools/call" -> call(exchange, message);
                default -> {
                    heard.add(message);
                    exchange.sendResponseHeaders(202, -1);
                }
            }
        }
    }

    private ObjectNode list() {
        var result = Json.mapper().createObjectNode();
        var array = result.putArray("tools");
        for (String tool : tools) {
            var one = array.addObject().put("name", tool).put("description", "Repeats, named " + tool);
            one.putObject("inputSchema").put("type", "object");
        }
        return result;
    }

    private void call(HttpExchange exchange, JsonNode message) throws IOException {
        heard.add(message);
        String tool = message.path("params").path("name").asString("");
        if (tool.equals("broken")) {
            var error = Json.mapper().createObjectNode().put("jsonrpc", "2.0");
            error.set("id", message.path("id"));
            error.putObject("error").put("code", -32000).put("message", "hunter2 does not fit");
            send(exchange, "application/json", Json.text(error));
            return;
        }
        if (tool.equals("slow")) {
            slow(exchange, message);
            return;
        }
        var result = Json.mapper().createObjectNode();
        result.putArray("content")
                .addObject()
                .put("type", "text")
                .put("text", Json.text(message.path("params").path("arguments")));
        answer(exchange, message, result);
    }

    private void slow(HttpExchange exchange, JsonNode message) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        var token = message.path("params").path("_meta").path("progressToken");
        if (!token.isMissingNode()) {
            var told = Map.of(
                    "jsonrpc",
                    "2.0",
                    "method",
                    "notifications/progress",
                    "params",
                    Map.of("progressToken", token, "progress", 1));
            exchange.getResponseBody()
                    .write("data: %s\n\n".formatted(Json.text(told)).getBytes(StandardCharsets.UTF_8));
            exchange.getResponseBody().flush();
        }
        try {
            boolean _ = end.await(1, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void answer(HttpExchange exchange, JsonNode message, ObjectNode result) throws IOException {
        var answer = Json.mapper().createObjectNode().put("jsonrpc", "2.0");
        answer.set("id", message.path("id"));
        answer.set("result", result);
        send(exchange, "application/json", Json.text(answer));
    }

    private static void send(HttpExchange exchange, String type, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(200, bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    /// The next that was asked by this method.
    JsonNode next(String method) throws InterruptedException {
        while (true) {
            var message = heard.poll(1, TimeUnit.MINUTES);
            if (message == null) {
                throw new AssertionError("nobody asked for " + method);
            }
            if (message.path("method").asString("").equals(method)) {
                return message;
            }
        }
    }

    @Override
    public void close() {
        end.countDown();
        http.stop(0);
    }
}
