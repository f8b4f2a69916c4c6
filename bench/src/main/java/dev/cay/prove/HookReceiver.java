package dev.cay.prove;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A receiver of webhooks that can be told to fail, to hang and to be down. It notes accepted requests in their order.
final class HookReceiver implements AutoCloseable {
    static final String SECRET = "a secret of the proof";

    /// How it answers.
    enum Mood {
        /// It accepts everything.
        WELL,
        /// It answers 500.
        FAILING,
        /// It does not answer before it is well again.
        HANGING,
        /// It closes connections without an answer.
        BREAKING
    }

    /// An event that was taken.
    record Taken(String id, String sandbox) {}

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore hanging = new Semaphore(0);
    private final List<Taken> taken = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();
    private int refused;
    private volatile Mood mood = Mood.WELL;

    HookReceiver() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 200);
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:%d/hook".formatted(server.getAddress().getPort());
    }

    void be(Mood next) {
        mood = next;
        if (next != Mood.HANGING) {
            hanging.release(Math.max(1, hanging.getQueueLength()));
        }
    }

    synchronized List<Taken> taken() {
        return List.copyOf(taken);
    }

    /// How many requests were not taken.
    synchronized int refused() {
        return refused;
    }

    /// What no request may be.
    synchronized List<String> wrong() {
        return List.copyOf(wrong);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            var now = mood;
            note(now, exchange.getRequestHeaders().getFirst("e2b-signature"), body);
            switch (now) {
                case WELL -> exchange.sendResponseHeaders(204, -1);
                case FAILING -> exchange.sendResponseHeaders(500, -1);
                case HANGING -> hanging.acquire();
                case BREAKING -> throw new IOException("no answer");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void note(Mood now, String signature, String body) {
        if (!signature(body).equals(signature)) {
            wrong.add("a request has a wrong signature: " + body);
        }
        if (now == Mood.WELL) {
            JsonNode event = JsonMapper.shared().readTree(body);
            taken.add(new Taken(
                    event.path("id").asString(""), event.path("sandboxId").asString("")));
        } else {
            refused++;
        }
    }

    private static String signature(String body) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest((SECRET + body).getBytes(StandardCharsets.UTF_8));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        be(Mood.WELL);
        server.stop(0);
        threads.shutdownNow();
    }
}
