package dev.cay.prove;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/// A Java server that runs in a sandbox and counts its requests, with classes of the JDK alone.
public final class JavaResident {
    private static final int PORT = 8002;

    private final AtomicInteger asked = new AtomicInteger();

    private JavaResident() {}

    public static void main(String[] arguments) throws IOException {
        new JavaResident().serve();
    }

    private void serve() throws IOException {
        var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", this::answer);
        server.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        byte[] body = "{\"pid\":%d,\"asked\":%d}"
                .formatted(ProcessHandle.current().pid(), asked.incrementAndGet())
                .getBytes(StandardCharsets.UTF_8);
        try (exchange) {
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }
}
