package dev.cay.node.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.cay.node.host.Programs;
import dev.cay.testing.Fast;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A proxy that notes what it is asked for and answers that nothing is there, so that no packet leaves this machine.
@Fast
final class CorporateProxyTest {
    @TempDir
    private Path dir;

    private final List<String> asked = new CopyOnWriteArrayList<>();
    private ServerSocket proxy;

    @BeforeEach
    void listen() throws IOException {
        proxy = new ServerSocket(0, 50, InetAddress.ofLiteral("127.0.0.1"));
        Thread.ofPlatform().daemon().start(this::serve);
    }

    @AfterEach
    void close() throws IOException {
        proxy.close();
    }

    @Test
    @NeedsRoot
    void theBaseTemplateIsFetchedThroughIt() throws IOException {
        assumeTrue(BuildTools.missing(Programs.ofHost()).isEmpty(), "no tools to build with");
        var base = new TreeLayer(new LayerStore(dir), programs(), dir.resolve("logs"), Recipe.of("base"));
        assertThatThrownBy(() -> base.build((_, _, _) -> {}))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("check that this host reaches");
        assertThat(asked)
                .as("what the proxy was asked for")
                .anyMatch(line -> line.startsWith("CONNECT ") || line.matches("GET http://[^/]+/.*InRelease HTTP/1.1"));
    }

    @Test
    void nodeIsFetchedThroughIt() throws IOException {
        assumeTrue(BuildTools.hasNpm(Programs.ofHost()), "no npm on this host");
        var node = new NodeJs(programs(), Recipe.of("base"), List.of());
        var work = Files.createDirectory(dir.resolve("work"));
        try (var log = BuildLog.open(dir, "base")) {
            assertThatThrownBy(() -> node.install(dir.resolve("root"), work, log))
                    .isInstanceOf(CayException.class);
        }
        assertThat(asked)
                .as("what the proxy was asked for")
                .anyMatch(line -> line.startsWith("CONNECT ") || line.contains("/node-linux-"));
    }

    /// As they are run by a daemon with these variables. What this host itself has set for apt and npm does not count.
    private Programs programs() throws IOException {
        String url = "http://127.0.0.1:" + proxy.getLocalPort();
        var none = Files.writeString(dir.resolve("apt.conf"), "");
        var npmrc = Files.writeString(dir.resolve("npmrc"), "");
        return new Programs(List.of(
                "env",
                "-u",
                "no_proxy",
                "-u",
                "NO_PROXY",
                "http_proxy=" + url,
                "https_proxy=" + url,
                "APT_CONFIG=" + none,
                "npm_config_userconfig=" + npmrc,
                "npm_config_cache=" + dir.resolve("npm"),
                "npm_config_fetch_retries=0"));
    }

    private void serve() {
        while (!proxy.isClosed()) {
            try {
                var client = proxy.accept();
                Thread.ofPlatform().daemon().start(() -> answer(client));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void answer(Socket client) {
        try (client;
                var in = new BufferedReader(
                        new InputStreamReader(client.getInputStream(), StandardCharsets.ISO_8859_1))) {
            String request = in.readLine();
            if (request == null) {
                return;
            }
            asked.add(request);
            for (String header = in.readLine(); header != null && !header.isEmpty(); header = in.readLine()) {
                // Up to the end of the head.
            }
            client.getOutputStream()
                    .write("HTTP/1.1 404 Not here\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            // The client has what it wanted.
        }
    }
}
