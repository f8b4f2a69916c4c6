package dev.cay.node.network;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.NeedsRoot;
import dev.cay.wire.node.Egress;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// A hostile sandbox opens as many connections as it can.
@NeedsRoot
class EgressLimitTest {
    /// Clients speak first here, and nothing that the node understands, so that no connection waits for more.
    private static final String MANY = """
            import resource, socket, sys, time
            resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
            def begin():
                try:
                    s = socket.create_connection((sys.argv[1], 25), 20); s.settimeout(20); s.sendall(b'\\0'); return s
                except OSError: return None
            def greeted(s):
                try: return s is not None and s.recv(100).startswith(b'220')
                except OSError: return False
            begun = [begin() for _ in range(int(sys.argv[2]))]
            open = [s for s in begun if greeted(s)]
            print(len(open), 'of', len(begun))
            print('one more:', greeted(begin()))
            open.pop().close()
            end = time.time() + 20
            while time.time() < end:
                more = begin()
                if greeted(more): break
            else: more = None
            print('after one has ended:', more is not None)
            """;

    @Test
    void takesAThousandConnectionsOfOneSandboxAndNoMore() throws Exception {
        try (var lab = new EgressLab()) {
            var rules = List.of(NetworkLab.PUBLIC + ":25", "www.allowed.test");
            lab.put(new Egress(true, rules, List.of("0.0.0.0/0"), Map.of(), null, false, false));
            assertThat(lab.python(MANY, NetworkLab.PUBLIC, "1060")).isEqualTo("""
                    1024 of 1060
                    one more: False
                    after one has ended: True""");
        }
    }
}
