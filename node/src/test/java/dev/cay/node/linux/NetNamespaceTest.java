package dev.cay.node.linux;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.guest.TestSandbox;
import dev.cay.testing.NeedsRoot;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@NeedsRoot
class NetNamespaceTest {
    private static final java.util.List<InetAddress> LOOPBACK = java.util.List.of(InetAddress.ofLiteral("127.0.0.1"));

    private static void inside(TestSandbox sandbox, String... command) throws Exception {
        var all =
                new java.util.ArrayList<>(java.util.List.of("nsenter", "-t", Long.toString(sandbox.pid()), "-n", "-u"));
        all.addAll(java.util.List.of(command));
        var process = new ProcessBuilder(all).redirectErrorStream(true).start();
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(new String(process.getInputStream().readAllBytes(), UTF_8)).isEmpty();
    }

    @Test
    void listensAndConnectsInsideAndComesHome() throws Exception {
        String home = Files.readSymbolicLink(Path.of("/proc/self/ns/net")).toString();
        try (var sandbox = new TestSandbox();
                var network = sandbox.network()) {
            inside(sandbox, "ip", "link", "set", "lo", "up");
            assertThatThrownBy(() -> network.connect(4321, LOOPBACK)).isInstanceOf(ConnectException.class);
            try (var _ = network.listen(4322)) {
                assertThatThrownBy(() -> network.listen(4322))
                        .isInstanceOf(BindException.class)
                        .hasMessageContaining("in the sandbox listens on port 4322");
            }
            try (var server = network.listen(4321);
                    var client = network.connect(4321, LOOPBACK);
                    var accepted = server.accept()) {
                client.write(ByteBuffer.wrap("hi".getBytes(UTF_8)));
                var read = ByteBuffer.allocate(2);
                accepted.read(read);
                assertThat(read.array()).isEqualTo("hi".getBytes(UTF_8));
                // The same port is free outside: the socket is not of this namespace.
                assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), 4321).close())
                        .isInstanceOf(ConnectException.class);
            }
            for (int i = 0; i < 4; i++) {
                assertThat(sandbox.threads()
                                .call(
                                        TestSandbox.LIMIT,
                                        () -> Files.readSymbolicLink(Path.of("/proc/thread-self/ns/net"))
                                                .toString()))
                        .isEqualTo(home);
            }
        }
    }

    @Test
    void setsTheHostnameInside() throws Exception {
        String before = Files.readString(Path.of("/proc/sys/kernel/hostname"));
        try (var sandbox = new TestSandbox();
                var network = sandbox.network()) {
            network.setHostname("cay-inside");
            inside(sandbox, "sh", "-c", "test $(hostname) = cay-inside || hostname");
        }
        assertThat(Files.readString(Path.of("/proc/sys/kernel/hostname"))).isEqualTo(before);
    }
}
