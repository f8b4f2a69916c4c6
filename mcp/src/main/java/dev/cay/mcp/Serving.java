package dev.cay.mcp;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

/// Runs the server until a signal; then its sandboxes end.
public final class Serving {
    public static final int USUAL_PORT = 8090;
    public static final String USUAL_ADDRESS = "127.0.0.1";

    private Serving() {}

    /// @param address an IP address
    /// @param hosts   names by which clients may reach it
    public record Listening(String address, int port, List<String> hosts) {
        public Listening {
            hosts = List.copyOf(hosts);
        }
    }

    public static void overPipes(ServerSettings settings) throws IOException {
        var out = System.out;
        // Whatever prints by mistake must not end up between messages.
        System.setOut(System.err);
        new SandboxServer(settings).serve(System.in, out);
    }

    /// Returns only when its thread is interrupted.
    public static void overHttp(ServerSettings settings, Listening where) throws IOException {
        var hosts = where.hosts().stream()
                .map(host -> host.toLowerCase(Locale.ROOT))
                .collect(Collectors.toSet());
        try (var server = new HttpSandboxServer(settings, hosts)) {
            var address = listen(server, where);
            Runtime.getRuntime().addShutdownHook(new Thread(server::close, "clean-up"));
            String literal = address.getAddress().getHostAddress();
            System.err.printf(
                    "MCP is served at http://%s:%d/mcp; the bearer token is the client's API key%n",
                    literal.contains(":") ? "[" + literal + "]" : literal, address.getPort());
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static InetSocketAddress listen(HttpSandboxServer server, Listening where) throws IOException {
        try {
            return server.listen(new InetSocketAddress(InetAddress.ofLiteral(where.address()), where.port()));
        } catch (IllegalArgumentException e) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "--listen must be an IP address, not '%s'".formatted(where.address()),
                    e);
        } catch (BindException e) {
            String message = String.valueOf(e.getMessage());
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    message.contains("in use")
                            ? "port %d is taken by another program; choose another with --port".formatted(where.port())
                            : "cannot listen on %s port %d: %s".formatted(where.address(), where.port(), message),
                    e);
        }
    }
}
