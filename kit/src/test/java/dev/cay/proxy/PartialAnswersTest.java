package dev.cay.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.http.Exchange;
import dev.cay.http.HttpListeners;
import dev.cay.http.Routes;
import dev.cay.http.TestHttp;
import dev.cay.metrics.Meters;
import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Placeholders;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A client that reads a file in parts, of a server that keeps in it the secret that came with the request.
@Fast
final class PartialAnswersTest {
    private static final String SECRET = "s3cr3t-value";
    private static final String WHOLE = "key=" + "*".repeat(SECRET.length()) + ";";
    private static final SandboxId ID = new SandboxId("sandbox1");

    @TempDir
    Path directory;

    private final HttpListeners servers = new HttpListeners();
    private final ReverseProxy proxy = new ReverseProxy(new Meters());
    private Map<String, String> rule = Map.of("Authorization", "Bearer ${e2b.secrets.known}");

    @SuppressWarnings("NullAway.Init")
    private TestHttp edge;

    @BeforeEach
    void serve() throws IOException {
        var routes = new Routes()
                .on("GET", "/file", exchange -> part(exchange, exchange.header("Range")))
                .on("GET", "/azure", exchange -> part(exchange, exchange.header("x-ms-range")))
                .on("GET", "/own", exchange -> part(exchange, exchange.header("X-Part")))
                .on(
                        "GET",
                        "/several",
                        exchange -> exchange.send(200, "multipart/byteranges; boundary=b", "s3cr3t".getBytes(UTF_8)))
                .on("GET", "/unsaid", exchange -> exchange.send(206, "text/plain", "s3cr3t".getBytes(UTF_8)))
                .on(
                        "GET",
                        "/rows",
                        exchange -> exchange.with("Content-Range", exchange.header("Range") + "/*")
                                .send(206, "text/plain", file(exchange)));
        int port = servers.listen(TestHttp.loopback(), routes).getPort();
        edge = new TestHttp(directory, exchange -> {
            RequestRule.apply(exchange, new Egress.Transform(rule, null), new Values(), ID, "www.allowed.test");
            proxy.forward(exchange, new Upstream("k", port, PartialAnswersTest::connect, null));
        });
    }

    private static SocketChannel connect(int port) throws IOException {
        return SocketChannel.open(new InetSocketAddress(TestHttp.loopback().getAddress(), port));
    }

    @AfterEach
    void stop() throws IOException {
        edge.close();
        proxy.close();
        servers.close();
    }

    private static byte[] file(Exchange exchange) {
        return ("key=" + String.valueOf(exchange.header("Authorization")).replace("Bearer ", "") + ";").getBytes(UTF_8);
    }

    private static void part(Exchange exchange, @Nullable String range) throws IOException {
        byte[] file = file(exchange);
        if (range == null) {
            exchange.send(200, "text/plain", file);
            return;
        }
        String[] ends = range.replaceAll("(?i)bytes\\s*=", "").strip().split("-");
        int from = Integer.parseInt(ends[0]);
        int to = Math.min(file.length - 1, Integer.parseInt(ends[1]));
        exchange.with("Content-Range", "bytes %d-%d/%d".formatted(from, to, file.length))
                .send(206, "text/plain", Arrays.copyOfRange(file, from, to + 1));
    }

    private HttpResponse<String> get(boolean second, String path, String... headers) throws Exception {
        var request = edge.request(second, path);
        if (headers.length > 0) {
            request.headers(headers);
        }
        return edge.client(second).send(request.build(), BodyHandlers.ofString());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void asksForTheWholeFile(boolean second) throws Exception {
        for (String range : new String[] {"bytes=0-9", "bytes=10-30", "Bytes =10-30"}) {
            var answer = get(second, "/file", "Range", range, "If-Range", "\"x\"");
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).isEqualTo(WHOLE);
        }
        assertThat(get(second, "/azure", "x-ms-range", "bytes=0-9").body()).isEqualTo(WHOLE);
        assertThat(get(second, "/file", "Range", "bytes=0-9", "Range", "bytes=10-30")
                        .body())
                .isEqualTo(WHOLE);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void passesNoPartThatAServerSendsAllTheSame(boolean second) throws Exception {
        for (String path : new String[] {"/own", "/several", "/unsaid"}) {
            var answer = get(second, path, "X-Part", "0-9");
            assertThat(answer.statusCode()).as(path).isEqualTo(502);
            assertThat(answer.body()).contains("ask for the whole file").doesNotContain("s3cr3t");
        }
        rule = Map.of("Authorization", "Bearer ${e2b.secrets.known}", "Range", "bytes=0-9");
        assertThat(get(second, "/file").statusCode())
                .as("a rule that asks for a part")
                .isEqualTo(502);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void passesRangesOfRows(boolean second) throws Exception {
        var answer = get(second, "/rows", "Range", "0-9");
        assertThat(answer.statusCode()).isEqualTo(206);
        assertThat(answer.headers().firstValue("Content-Range")).contains("0-9/*");
        assertThat(answer.body()).isEqualTo(WHOLE);
    }

    @Test
    void leavesPartsAloneWhereNoSecretIsSent() throws Exception {
        rule = Map.of("Authorization", "Bearer plain-value");
        var answer = get(false, "/file", "Range", "bytes=0-9");
        assertThat(answer.statusCode()).isEqualTo(206);
        assertThat(answer.body()).isEqualTo("key=plain-");
    }

    private static final class Values implements Placeholders {
        @Override
        public Optional<String> value(SandboxId sandbox, Kind kind, String name, String host) {
            return Optional.of(SECRET);
        }

        @Override
        public Optional<String> mark(String host) {
            return Optional.empty();
        }
    }
}
