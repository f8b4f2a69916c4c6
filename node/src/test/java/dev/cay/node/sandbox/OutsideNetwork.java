package dev.cay.node.sandbox;

import dev.cay.life.Undo;
import dev.cay.node.host.Programs;
import java.io.IOException;
import java.util.List;

/// A network namespace beside the host that owns public addresses of its own, reached by a route for them
/// alone. So sandboxes can be seen to reach "the internet" and no packet leaves the machine.
final class OutsideNetwork implements AutoCloseable {
    static final int PORT = 8080;

    private static final String ECHO = """
            import socketserver
            class Echo(socketserver.StreamRequestHandler):
                def handle(self):
                    for line in self.rfile:
                        self.wfile.write(line)
            class Server(socketserver.ThreadingTCPServer):
                allow_reuse_address = True
                daemon_threads = True
            server = Server(('0.0.0.0', %d), Echo)
            print('READY', flush=True)
            server.serve_forever()
            """;

    final String one;
    final String two;

    private final Undo undo = new Undo();
    private final Programs programs = Programs.ofHost();

    OutsideNetwork(TestNode.Place place) throws IOException {
        String prefix = place.range().replaceFirst("^10\\.", "11.").replaceFirst("\\.\\d+/\\d+$", "");
        this.one = prefix + ".2";
        this.two = prefix + ".3";
        String space = "cay" + place.instance() + "-w";
        String here = "w" + place.instance();
        try {
            ip("netns add " + space);
            undo.step(() -> ip("netns delete " + space));
            ip("link add %s type veth peer name eth0 netns %s".formatted(here, space));
            ip("address add %s.1/24 dev %s".formatted(prefix, here));
            ip("link set %s up".formatted(here));
            ip("-n %s link set lo up".formatted(space));
            ip("-n %s address add %s/24 dev eth0".formatted(space, one));
            ip("-n %s address add %s/24 dev eth0".formatted(space, two));
            ip("-n %s link set eth0 up".formatted(space));
            serve(space);
        } catch (IOException | RuntimeException e) {
            undo.close();
            throw e;
        }
    }

    private void serve(String space) throws IOException {
        var server = new ProcessBuilder("ip", "netns", "exec", space, "python3", "-c", ECHO.formatted(PORT))
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

    private void ip(String words) {
        programs.require(TestNode.LIMIT, "", List.of(("ip " + words).split(" ")));
    }

    /// A script that says `open` if the address can be reached, and something else if not.
    static String reach(String address) {
        return "timeout 3 bash -c 'exec 3<>/dev/tcp/%s/%d && echo hello >&3 && read -r x <&3 && echo open' || echo shut"
                .formatted(address, PORT);
    }

    @Override
    public void close() {
        undo.close();
    }
}
