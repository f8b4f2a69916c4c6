package dev.cay.acceptance;

import dev.cay.life.Trees;
import dev.cay.life.Undo;
import dev.cay.node.host.Programs;
import dev.cay.platform.OwnCay;
import dev.cay.tls.LocalAuthority;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/// A service that sandboxes reach by a name over TLS, in a namespace beside the host, and a Cay that trusts it. No
/// packet leaves the machine.
final class SecretService implements AutoCloseable {
    static final String HOST = "api.service.test";

    /// Another name of the same service, for which there are no rules.
    static final String OTHER = "other.service.test";

    /// A name for which the service shows a certificate of an authority that nobody trusts.
    static final String WRONG = "wrong.service.test";

    /// A name for which the service shows a certificate for other names.
    static final String ELSEWHERE = "elsewhere.test";

    /// A name by which the service passes requests on to the edge of the Cay, as a reverse proxy in front of it does.
    static final String FRONT = "front.service.test";

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final Undo closing = new Undo();
    private final Path directory;
    private final OwnCay cay;

    SecretService() throws Exception {
        this(Map.of());
    }

    /// @param more settings of the Cay
    SecretService(Map<String, String> more) throws Exception {
        directory = Files.createTempDirectory("cay-service-");
        try {
            closing.step(() -> Trees.delete(directory));
            long pid = ProcessHandle.current().pid();
            String address = "11.%d.%d.2".formatted(pid / 250 % 250, pid % 250);
            LocalAuthority.open(directory.resolve("tls"), "service.test");
            LocalAuthority.open(directory.resolve("wrong"), "service.test");
            var front = closing.add(new ServerSocket());
            build(Long.toString(pid, 36), address, front);
            var settings = new HashMap<>(more);
            settings.put("network.nameservers", address);
            settings.put("SSL_CERT_FILE", directory.resolve("tls/bundle.pem").toString());
            cay = OwnCay.start(settings);
            closing.add(cay);
            Thread.ofVirtual().start(() -> lead(front));
        } catch (Exception e) {
            closing.close();
            throw e;
        }
    }

    private void build(String name, String address, ServerSocket edge) throws IOException {
        String space = "cays" + name;
        String link = "s" + name;
        ip("netns add " + space);
        closing.step(() -> ip("netns delete " + space));
        ip("link add %s type veth peer name eth0 netns %s".formatted(link, space));
        ip("address add %s/24 dev %s".formatted(address.replaceAll("2$", "1"), link));
        ip("link set %s up".formatted(link));
        edge.bind(new InetSocketAddress(address.replaceAll("2$", "1"), 0));
        String front = "%s:%d".formatted(edge.getInetAddress().getHostAddress(), edge.getLocalPort());
        ip("-n %s address add %s/24 dev eth0".formatted(space, address));
        ip("-n %s link set eth0 up".formatted(space));
        ip("-n %s route add default via %s".formatted(space, address.replaceAll("2$", "1")));
        var server = new ProcessBuilder(
                        "ip",
                        "netns",
                        "exec",
                        space,
                        "python3",
                        Path.of("src/test/js/secret-service.py")
                                .toAbsolutePath()
                                .toString(),
                        address,
                        directory.resolve("tls/server.pem").toString(),
                        notes().toString(),
                        front,
                        directory.resolve("wrong/server.pem").toString())
                .redirectErrorStream(true)
                .start();
        closing.step(() -> {
            server.descendants().forEach(ProcessHandle::destroyForcibly);
            server.destroyForcibly().waitFor();
        });
        String ready = server.inputReader().readLine();
        if (!"READY".equals(ready)) {
            throw new IOException(ready);
        }
    }

    /// Leads connections to the edge, which listens on loopback.
    private void lead(ServerSocket front) {
        while (!front.isClosed()) {
            try {
                var client = front.accept();
                var edge = new Socket(InetAddress.getLoopbackAddress(), cay.port());
                Thread.ofVirtual().start(() -> move(client, edge));
                Thread.ofVirtual().start(() -> move(edge, client));
            } catch (IOException _) {
                // Closed, or a connection that its client gave up.
            }
        }
    }

    private static void move(Socket from, Socket to) {
        try (from;
                to) {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException _) {
            // The end of the connection.
        }
    }

    private static void ip(String words) {
        Programs.ofHost().require(LIMIT, "", List.of(("ip " + words).split(" ")));
    }

    OwnCay cay() {
        return cay;
    }

    private Path notes() {
        return directory.resolve("notes");
    }

    /// What the service got, a line of JSON for each request.
    String got() throws IOException {
        return Files.exists(notes()) ? Files.readString(notes()) : "";
    }

    /// A request as the service got it.
    record Request(String target, Map<String, String> headers, String body) {
        Request {
            headers = Map.copyOf(headers);
        }
    }

    /// The newest request for each path.
    Map<String, Request> requests() throws IOException {
        var requests = new HashMap<String, Request>();
        for (String line : got().lines().toList()) {
            var seen = JsonMapper.shared().readTree(line);
            if (seen.has("target")) {
                var headers = new HashMap<String, String>();
                seen.get("headers").forEachEntry((name, value) -> headers.put(name, value.asString()));
                String target = seen.get("target").asString();
                requests.put(
                        target.replaceAll("\\?.*", ""),
                        new Request(target, headers, seen.get("body").asString()));
            }
        }
        return requests;
    }

    @Override
    public void close() {
        closing.close();
    }
}
