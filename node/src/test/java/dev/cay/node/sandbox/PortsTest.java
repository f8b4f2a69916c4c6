package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.NeedsRoot;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Servers in a real sandbox, whichever way they listen.
@NeedsRoot
class PortsTest extends NodeTest {
    private static final String SERVER = """
            import socket, sys
            from http.server import BaseHTTPRequestHandler, HTTPServer
            class Answer(BaseHTTPRequestHandler):
                def do_GET(self):
                    self.send_response(200)
                    self.send_header('Content-Type', 'text/event-stream')
                    self.end_headers()
                    for part in ('data: one', 'data: two'):
                        self.wfile.write((part + chr(10)).encode())
                        self.wfile.flush()
                        if self.path == '/held':
                            sys.stdin.readline()
                def do_POST(self):
                    body = self.rfile.read(int(self.headers['Content-Length']))
                    self.send_response(200)
                    self.send_header('Content-Length', str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
            class Server(HTTPServer):
                address_family = socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET
            server = Server((sys.argv[1], int(sys.argv[2])), Answer)
            print('ready', flush=True)
            server.serve_forever()
            """;

    private static final String STORE = "echo %s | base64 -d > /tmp/server.py"
            .formatted(Base64.getEncoder().encodeToString(SERVER.getBytes(StandardCharsets.UTF_8)));

    @Test
    void reachesServersOnEveryAddress() throws Exception {
        node.keepers.create(TestNode.spec("ports"));
        assertThat(node.run("ports", STORE + "; echo stored")).isEqualTo("stored");
        int port = 8000;
        for (String address : List.of("127.0.0.1", "::1", "0.0.0.0", "::", "169.254.0.21")) {
            port++;
            try (var events = node.start("ports", "exec python3 /tmp/server.py %s %d".formatted(address, port))) {
                TestNode.event(events);
                assertThat(TestNode.event(events)).contains("stdout");
                assertThat(node.get("ports", port, "/").body())
                        .describedAs(address)
                        .isEqualTo("data: one\ndata: two\n");
            }
        }
        assertThat(node.get("ports", 8099, "/").body())
                .isEqualTo(
                        "{\"sandboxId\":\"ports\",\"message\":\"The sandbox is running but port is not open\",\"port\":8099,\"code\":502}");
    }

    @Test
    void passesEventsAtOnceAndBodiesOfAnySize() throws Exception {
        node.keepers.create(TestNode.spec("stream"));
        node.run("stream", STORE);
        String script = "mkfifo /tmp/go; exec python3 /tmp/server.py 127.0.0.1 8001 0<> /tmp/go";
        try (var events = node.start("stream", script)) {
            TestNode.event(events);
            assertThat(TestNode.event(events)).contains("stdout");
            var answer = node.http.send(
                    node.request("stream", 8001, "/held").build(), HttpResponse.BodyHandlers.ofInputStream());
            try (var lines = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
                assertThat(lines.readLine()).isEqualTo("data: one");
                node.run("stream", "echo > /tmp/go");
                assertThat(lines.readLine()).isEqualTo("data: two");
                node.run("stream", "echo > /tmp/go");
            }
            // Answered when all has arrived: this client reads nothing before it has sent everything.
            var big = new byte[30 << 20];
            new java.util.Random(5).nextBytes(big);
            var echoed = node.http.send(
                    node.request("stream", 8001, "/")
                            .POST(HttpRequest.BodyPublishers.ofByteArray(big))
                            .build(),
                    HttpResponse.BodyHandlers.ofByteArray());
            assertThat(java.util.Arrays.equals(echoed.body(), big)).isTrue();
        }
    }
}
