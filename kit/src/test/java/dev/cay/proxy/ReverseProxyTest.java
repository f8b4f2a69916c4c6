package dev.cay.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.http.Duplex;
import dev.cay.http.Exchange;
import dev.cay.http.HttpListeners;
import dev.cay.http.RawClient;
import dev.cay.http.Routes;
import dev.cay.http.TestHttp;
import dev.cay.metrics.Meters;
import dev.cay.testing.Fast;
import dev.cay.tls.LocalAuthority;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The server "inside" is one of ours; the connector opens plain loopback connections and counts them.
@Fast
class ReverseProxyTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @SuppressWarnings("NullAway.Init")
    private TestHttp edge;

    private final HttpListeners inside = new HttpListeners();
    private final ReverseProxy proxy = new ReverseProxy(new Meters());
    private final AtomicInteger connections = new AtomicInteger();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final CountDownLatch reached = new CountDownLatch(1);
    private @Nullable String mask;
    private boolean tls;
    private volatile Map<String, String> set = Map.of();
    private volatile Set<String> only = Set.of();

    @BeforeEach
    void serve() throws IOException {
        var routes = new Routes()
                .on("POST", "/lines", TestHttp::echoLines)
                .on("POST", "/bytes", exchange -> {
                    OutputStream out = exchange.stream(200);
                    out.flush();
                    exchange.body().transferTo(out);
                })
                .on("GET", "/seen/{x}", exchange -> exchange.sendJson(200, exchange.path() + "?" + exchange.rawQuery()))
                .on(
                        "GET",
                        "/hosts",
                        exchange -> exchange.with("X-Inside", "yes")
                                .sendJson(
                                        200,
                                        exchange.authority() + " " + exchange.header("X-Forwarded-Host") + " "
                                                + exchange.header("Via") + " " + exchange.header("X-Forwarded-For")
                                                + " "
                                                + exchange.header("Cookie")))
                .on(
                        "POST",
                        "/echo",
                        exchange ->
                                exchange.send(200, "text/plain", exchange.body().readAllBytes()))
                .on(
                        "GET",
                        "/private",
                        exchange -> exchange.with("Set-Cookie", "a=1; Domain=" + domainOf(exchange) + "; Path=/x")
                                .sendJson(200, exchange.header("X-Ours") + " " + exchange.header("X-Theirs")))
                .on("DELETE", "/gone", exchange -> exchange.send(204))
                .on("POST", "/created", exchange -> exchange.send(201))
                .on("POST", "/early", exchange -> exchange.send(413))
                .on("GET", "/abort", exchange -> {
                    exchange.stream(200).write("x".getBytes(StandardCharsets.UTF_8));
                    exchange.answer().flush();
                    exchange.abort("test");
                })
                .on("GET", "/idle", exchange -> {
                    exchange.onEnd(ended::countDown);
                    exchange.stream(200).flush();
                    reached.countDown();
                    assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
                });
        InetSocketAddress target = inside.listen(TestHttp.loopback(), routes);
        var authority = LocalAuthority.open(directory.resolve("inside"), "of.the.sandbox");
        InetSocketAddress secure = inside.listenTls(TestHttp.loopback(), authority.tls(), routes);
        proxy.start();
        edge = new TestHttp(directory, exchange -> {
            WithheldHeaders.headers(exchange, Set.of("X-Ours"));
            LastHop.setHeaders(exchange, set);
            if (!only.isEmpty()) {
                LastHop.answerOnlyWith(exchange, only);
            }
            proxy.forward(exchange, upstream(tls ? secure.getPort() : target.getPort()));
        });
    }

    @AfterEach
    void stop() {
        edge.close();
        proxy.close();
        inside.close();
    }

    private Upstream upstream(int port) {
        return new Upstream(
                "sandbox/1",
                port,
                to -> {
                    connections.incrementAndGet();
                    return SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), to));
                },
                mask,
                tls ? new AnyCertificate() : null);
    }

    /// The certificate is the sandbox's own, and for another name.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void speaksTlsToServersThatDo(boolean second) throws Exception {
        tls = true;
        byte[] bytes = new byte[3_000_000];
        new Random(8).nextBytes(bytes);
        try (var duplex = new Duplex(edge, second, "/bytes")) {
            assertThat(Arrays.equals(duplex.echo(bytes), bytes)).isTrue();
        }
        for (int i = 0; i < 3; i++) {
            assertThat(get(second, "/seen/a").body()).startsWith("\"/seen/a");
            assertThat(post(second, "/echo", "hello").body()).isEqualTo("hello");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void setsHeadersInPlaceOfTheClients(boolean second) throws Exception {
        set = Map.of("x-theirs", "set", "Cookie", "c=1");
        var request =
                edge.request(second, "/private").header("X-Theirs", "forged").header("Cookie", "c=2");
        var client = second ? edge.http2() : edge.http1();
        assertThat(client.send(request.build(), BodyHandlers.ofString()).body()).isEqualTo("\"null set\"");
        var hosts = edge.request(second, "/hosts").header("Cookie", "c=2");
        assertThat(client.send(hosts.build(), BodyHandlers.ofString()).body()).endsWith(" c=1\"");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void passesEachLineBeforeTheNextIsSent(boolean second) throws Exception {
        Duplex.echoesLineByLine(edge, second, "/lines");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void passesManyBytes(boolean second) throws Exception {
        byte[] bytes = new byte[20_000_000];
        new Random(7).nextBytes(bytes);
        try (var duplex = new Duplex(edge, second, "/bytes")) {
            assertThat(Arrays.equals(duplex.echo(bytes), bytes)).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void sharesConnectionsAmongRequests(boolean second) throws Exception {
        for (int i = 0; i < 20; i++) {
            assertThat(get(second, "/seen/a%2Fb?q=%41&r").body()).isEqualTo("\"/seen/a%2Fb?q=%41&r\"");
            assertThat(post(second, "/bytes", "hello").body()).isEqualTo("hello");
            HttpResponse<String> created = post(second, "/created", "");
            assertThat(created.statusCode()).isEqualTo(201);
            assertThat(created.headers().firstValue("content-length")).contains("0");
            var gone = edge.client(second)
                    .send(edge.request(second, "/gone").DELETE().build(), BodyHandlers.ofString());
            assertThat(gone.statusCode()).isEqualTo(204);
        }
        // Of 80: a client may have its answer a moment before the connection is back in the pool.
        assertThat(connections.get()).isLessThan(20);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void leavesTheHostAloneUnlessToldOtherwise(boolean second) throws Exception {
        String host = edge.uri(second, "/").getAuthority();
        HttpResponse<String> answer = get(second, "/hosts");
        assertThat(answer.body()).isEqualTo("\"" + host + " null null null null\"");
        assertThat(answer.headers().firstValue("x-inside")).contains("yes");
        mask = "app.example:80";
        assertThat(get(second, "/hosts").body()).isEqualTo("\"app.example:80 " + host + " null null null\"");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void keepsCredentialsFromTheServerAndCookiesFromOtherHosts(boolean second) throws Exception {
        var request =
                edge.request(second, "/private").header("X-Ours", "secret").header("X-Theirs", "word");
        var client = second ? edge.http2() : edge.http1();
        var answer = client.send(request.build(), BodyHandlers.ofString());
        assertThat(answer.body()).isEqualTo("\"null word\"");
        assertThat(answer.headers().firstValue("Set-Cookie")).contains("a=1; Path=/x");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void passesOnlyTheNamedHeadersOfAnAnswer(boolean second) throws Exception {
        only = Set.of("content-type", "content-length");
        var client = second ? edge.http2() : edge.http1();
        var answer = client.send(edge.request(second, "/private").build(), BodyHandlers.ofString());
        assertThat(answer.body()).isEqualTo("\"null null\"");
        assertThat(answer.headers().firstValue("Content-Type")).contains("application/json");
        assertThat(answer.headers().firstValue("Set-Cookie")).isEmpty();
    }

    private static String domainOf(Exchange exchange) {
        return exchange.authority().replaceFirst(":\\d+$", "");
    }

    /// Not an error of ours: what fails there is up to whoever is root inside.
    @ParameterizedTest
    @MethodSource("brokenConnects")
    void answersForAServerThatTakesNoConnection(IOException broken) throws Exception {
        Upstream.Connector connector = _ -> {
            throw broken;
        };
        try (var http = new TestHttp(
                directory, exchange -> proxy.forward(exchange, new Upstream("broken", 1, connector, null)))) {
            var answer = http.http1().send(http.request(false, "/").build(), BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(502);
            assertThat(answer.body()).contains("took no connection").contains(broken.getMessage());
        }
    }

    static List<IOException> brokenConnects() {
        return List.of(
                new SocketException("Connection reset by peer"), new SocketTimeoutException("Connect timed out"));
    }

    @Test
    void tellsAClosedPortToTheCaller() throws Exception {
        int closed;
        try (var socket = new java.net.ServerSocket(0)) {
            closed = socket.getLocalPort();
        }
        var told = new CountDownLatch(1);
        try (var http = new TestHttp(directory, exchange -> {
            try {
                proxy.forward(exchange, upstream(closed));
            } catch (ConnectException e) {
                told.countDown();
                exchange.send(502);
            }
        })) {
            var answer = http.http2()
                    .send(
                            http.request(true, "/")
                                    .POST(BodyPublishers.ofString("x"))
                                    .build(),
                            BodyHandlers.discarding());
            assertThat(answer.statusCode()).isEqualTo(502);
            assertThat(told.getCount()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void passesAnAnswerThatBreaksOffAsBroken(boolean second) {
        assertThatThrownBy(() -> get(second, "/abort")).isInstanceOf(IOException.class);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void endsTheRequestInsideWhenTheClientLeaves(boolean second) throws Exception {
        var answer = edge.client(second).send(edge.request(second, "/idle").build(), BodyHandlers.ofInputStream());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(reached.await(20, TimeUnit.SECONDS)).isTrue();
        answer.body().close();
        assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void cutEndsConnectionsInUseWithAReset(boolean second) throws Exception {
        var answer = edge.client(second).send(edge.request(second, "/idle").build(), BodyHandlers.ofInputStream());
        assertThat(reached.await(20, TimeUnit.SECONDS)).isTrue();
        proxy.cut("another/1");
        assertThat(get(second, "/seen/x").statusCode()).isEqualTo(200);
        proxy.cut("sandbox/1");
        assertThatThrownBy(() -> answer.body().read()).isInstanceOf(IOException.class);
        assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
        int before = connections.get();
        assertThat(get(second, "/seen/x").statusCode()).isEqualTo(200);
        assertThat(connections.get()).isEqualTo(before + 1);
    }

    @Test
    void passesOnAMethodOfAnyLength() throws Exception {
        try (var client = new RawClient(edge.plain)) {
            client.send("%s /echo HTTP/1.1\r\nHost: x\r\n\r\n".formatted("M".repeat(20_000)));
            assertThat(client.head().getFirst()).isEqualTo("HTTP/1.1 405 Method Not Allowed");
        }
    }

    @Test
    void asksTheServerBeforeTheBodyIsSent() throws Exception {
        try (var client = new RawClient(edge.plain)) {
            client.send("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
            assertThat(client.head().getFirst()).isEqualTo("HTTP/1.1 100 Continue");
            client.send("hello");
            assertThat(client.head().getFirst()).isEqualTo("HTTP/1.1 200 OK");
            assertThat(client.exactly(5)).isEqualTo("hello");
        }
        try (var client = new RawClient(edge.plain)) {
            client.send("POST /bytes HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
            assertThat(client.head().getFirst()).isEqualTo("HTTP/1.1 200 OK");
            client.send("hello");
            assertThat(new String(client.in.readAllBytes(), StandardCharsets.UTF_8))
                    .contains("hello");
        }
        try (var client = new RawClient(edge.plain)) {
            client.send("POST /early HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
            assertThat(client.head().getFirst()).startsWith("HTTP/1.1 413");
        }
    }

    private HttpResponse<String> get(boolean second, String path) throws Exception {
        return edge.client(second).send(edge.request(second, path).build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> post(boolean second, String path, String body) throws Exception {
        return edge.client(second)
                .send(
                        edge.request(second, path)
                                .POST(BodyPublishers.ofString(body))
                                .build(),
                        BodyHandlers.ofString());
    }
}
