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
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A server that compresses what it was asked not to compress, and repeats in it the secret that came with the request.
@Fast
final class CompressedAnswerTest {
    private static final String SECRET = "s3cr3t-value";
    private static final String FILLING = "x".repeat(1 << 20);
    private static final SandboxId ID = new SandboxId("sandbox1");

    @TempDir
    Path directory;

    private final HttpListeners servers = new HttpListeners();
    private final ReverseProxy proxy = new ReverseProxy(new Meters());
    private Map<String, String> rule = Map.of("Authorization", "Bearer ${e2b.secrets.known}");

    @SuppressWarnings("NullAway.Init")
    private TestHttp edge;

    /// Makes bytes of a coding of what is written.
    private interface Coding {
        OutputStream over(OutputStream out) throws IOException;
    }

    @BeforeEach
    void serve() throws IOException {
        var routes = new Routes()
                .on("GET", "/gzip", exchange -> send(exchange, "GZip", GZIPOutputStream::new, false))
                .on("HEAD", "/gzip", exchange -> send(exchange, "GZip", GZIPOutputStream::new, false))
                .on("GET", "/two", exchange -> send(exchange, "gzip", GZIPOutputStream::new, true))
                .on("GET", "/deflate", exchange -> send(exchange, "deflate", DeflaterOutputStream::new, false))
                .on(
                        "GET",
                        "/bare",
                        exchange -> send(
                                exchange,
                                "deflate",
                                out -> new DeflaterOutputStream(out, new Deflater(6, true)),
                                false))
                .on(
                        "GET",
                        "/empty",
                        exchange -> exchange.with("Content-Encoding", "gzip").send(200, "text/plain", new byte[0]))
                .on(
                        "GET",
                        "/broken",
                        exchange -> exchange.with("Content-Encoding", "gzip")
                                .send(200, "text/plain", SECRET.getBytes(UTF_8)))
                .on("GET", "/br", exchange -> send(exchange, "br", out -> out, false))
                .on("GET", "/twice", exchange -> send(exchange, "gzip, gzip", GZIPOutputStream::new, false));
        int port = servers.listen(TestHttp.loopback(), routes).getPort();
        edge = new TestHttp(directory, exchange -> {
            RequestRule.apply(exchange, new Egress.Transform(rule, null), new Values(), ID, "www.allowed.test");
            proxy.forward(exchange, new Upstream("k", port, CompressedAnswerTest::connect, null));
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

    /// @param parts whether each half of the text is compressed by itself
    private static void send(Exchange exchange, String name, Coding coding, boolean parts) throws IOException {
        var bytes = new ByteArrayOutputStream();
        String text = text(String.valueOf(exchange.header("Authorization")).replace("Bearer ", ""));
        int middle = parts ? text.length() / 2 : text.length();
        for (String part : new String[] {text.substring(0, middle), text.substring(middle)}) {
            try (var out = coding.over(bytes)) {
                out.write(part.getBytes(UTF_8));
            }
            if (!parts) {
                break;
            }
        }
        exchange.with("Content-Encoding", name).send(200, "text/plain", bytes.toByteArray());
    }

    /// The value is at the end of a piece, too, wherever pieces end.
    private static String text(String value) {
        return FILLING + value + FILLING + value;
    }

    private HttpResponse<String> ask(boolean second, String method, String path) throws Exception {
        var request = edge.request(second, path).method(method, BodyPublishers.noBody());
        return edge.client(second).send(request.build(), BodyHandlers.ofString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/gzip", "/two", "/deflate", "/bare"})
    void unpacksAndStrikesTheValueOut(String path) throws Exception {
        for (boolean second : new boolean[] {false, true}) {
            var answer = ask(second, "GET", path);
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.headers().firstValue("Content-Encoding")).isEmpty();
            assertThat(answer.body()).isEqualTo(text("*".repeat(SECRET.length())));
        }
    }

    @Test
    void passesAnswersWithoutContent() throws Exception {
        assertThat(ask(false, "HEAD", "/gzip").headers().firstValue("Content-Encoding"))
                .hasValueSatisfying(coding -> assertThat(coding).isEqualToIgnoringCase("gzip"));
        assertThat(ask(false, "GET", "/empty").body()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/br", "/twice", "/broken"})
    void passesNothingThatItCannotUnpack(String path) throws Exception {
        var answer = ask(false, "GET", path);
        assertThat(answer.statusCode()).isEqualTo(502);
        assertThat(answer.body()).doesNotContain(SECRET);
    }

    @Test
    void leavesAnswersAloneWhereNoSecretIsSent() throws Exception {
        rule = Map.of("Authorization", "Bearer plain-value");
        assertThat(ask(false, "GET", "/br").body()).isEqualTo(text("plain-value"));
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
