package dev.cay.node.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.cay.life.Undo;
import dev.cay.testing.Fast;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import dev.cay.web.WebFiles;
import dev.cay.wire.node.Ceiling;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What the operator's ceiling means for connections that the node makes itself.
@Fast
final class NetworkLimitsTest {
    @TempDir
    private Path directory = Path.of("unset");

    private final Undo undo = new Undo();

    @AfterEach
    void close() {
        undo.close();
    }

    private static NetworkLimits limits(List<String> open, List<String> deny) {
        return new NetworkLimits(1, 0, List.of(), open, new Ceiling(List.of(), deny));
    }

    @Test
    void aNameThatTheOperatorForbidsIsNotReached() {
        var names = new Ceiling(List.of(), List.of(), List.of("good.test"));
        var limits = new NetworkLimits(1, 0, List.of(), List.of(), names);
        assertThat(limits.permits("good.test", InetAddress.ofLiteral("8.8.8.8"), 443))
                .isTrue();
        assertThat(limits.permits("evil.test", InetAddress.ofLiteral("8.8.8.8"), 443))
                .isFalse();
        assertThat(limits.permits("evil.test", null, 443)).isFalse();
    }

    @Test
    void theCeilingIsNotAskedAboutPlacesThatTheOperatorOpened() {
        var limits = limits(List.of("10.1.1.1:443"), List.of("10.0.0.0/8"));
        assertThat(limits.permits("host", InetAddress.ofLiteral("10.1.1.1"), 443))
                .isTrue();
        assertThat(limits.permits("host", InetAddress.ofLiteral("10.1.1.1"), 80))
                .isFalse();
        assertThat(limits.permits("host", InetAddress.ofLiteral("8.8.8.8"), 80)).isTrue();
        assertThat(limits.permits("host", null, 80)).as("a proxy looks it up").isFalse();
        assertThat(limits(List.of(), List.of()).permits("host", null, 80)).isTrue();
    }

    @Test
    void filesAreNotFetchedFromWhereTheCeilingForbids() throws Exception {
        var asked = new AtomicInteger();
        var server = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 0);
        server.createContext("/", exchange -> {
            asked.incrementAndGet();
            exchange.sendResponseHeaders(200, 1);
            try (var out = exchange.getResponseBody()) {
                out.write('x');
            }
        });
        server.start();
        undo.step(() -> server.stop(0));
        var url = URI.create(
                "http://127.0.0.1:%d/file".formatted(server.getAddress().getPort()));
        var target = directory.resolve("file");
        var rules = new Dialer.Rules(Addresses.allowing(List.of("127.0.0.0/8")), Set.of(), true, "a test");
        var dialer = undo.add(new Dialer(rules));
        var forbidden = new WebFiles(dialer.within(limits(List.of(), List.of("127.0.0.1"))::permits));
        assertThatThrownBy(() -> forbidden.fetch(url, target)).hasMessageContaining("127.0.0.1");
        assertThat(asked).hasValue(0);
        var open = new WebFiles(dialer.within(limits(List.of(), List.of("127.0.0.2"))::permits));
        open.fetch(url, target);
        assertThat(Files.readString(target)).as("the control").isEqualTo("x");
    }
}
