package dev.cay.acceptance;

import dev.cay.life.Undo;
import dev.cay.node.host.Programs;
import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.testing.NeedsRoot;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;

/// Egress rules by E2B's client. What sandboxes reach are addresses of a namespace beside the host; no packet
/// leaves the machine.
@ExtendWith(TestPlatform.class)
@NeedsRoot
final class EgressTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String SERVER = """
            import socketserver
            class Echo(socketserver.StreamRequestHandler):
                def handle(self):
                    for line in self.rfile: self.wfile.write(line)
            class Server(socketserver.ThreadingTCPServer):
                allow_reuse_address = True
                daemon_threads = True
            server = Server(('0.0.0.0', 8080), Echo)
            print('READY', flush=True)
            server.serve_forever()
            """;

    @TestFactory
    List<DynamicNode> rulesByAddress(OwnCay platform) throws Exception {
        String name = Long.toString(ProcessHandle.current().pid(), 36);
        String prefix = "11.%d.%d"
                .formatted(
                        ProcessHandle.current().pid() / 250 % 250,
                        ProcessHandle.current().pid() % 250);
        try (var undo = new Undo()) {
            world(undo, "caye" + name, "e" + name, prefix);
            var environment = new HashMap<>(platform.environment(OwnCay.Mode.DOMAIN));
            environment.put("CAY_OUTSIDE_ONE", prefix + ".2");
            environment.put("CAY_OUTSIDE_TWO", prefix + ".3");
            return new ClientTests(NpmClient.install("e2b", "2.51.0"))
                    .run("network.test.mjs", environment)
                    .cases(platform);
        }
    }

    private static void world(Undo undo, String space, String link, String prefix) throws IOException {
        ip("netns add " + space);
        undo.step(() -> ip("netns delete " + space));
        ip("link add %s type veth peer name eth0 netns %s".formatted(link, space));
        ip("address add %s.1/24 dev %s".formatted(prefix, link));
        ip("link set %s up".formatted(link));
        ip("-n %s link set lo up".formatted(space));
        ip("-n %s address add %s.2/24 dev eth0".formatted(space, prefix));
        ip("-n %s address add %s.3/24 dev eth0".formatted(space, prefix));
        ip("-n %s link set eth0 up".formatted(space));
        var server = new ProcessBuilder("ip", "netns", "exec", space, "python3", "-c", SERVER)
                .redirectErrorStream(true)
                .start();
        undo.step(() -> {
            server.descendants().forEach(ProcessHandle::destroyForcibly);
            server.destroyForcibly().waitFor();
        });
        String ready = server.inputReader().readLine();
        if (!"READY".equals(ready)) {
            throw new IOException(ready);
        }
    }

    private static void ip(String words) {
        Programs.ofHost().require(LIMIT, "", List.of(("ip " + words).split(" ")));
    }
}
