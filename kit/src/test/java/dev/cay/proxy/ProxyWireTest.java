package dev.cay.proxy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.http.RawClient;
import dev.cay.http.TestHttp;
import dev.cay.metrics.Meters;
import dev.cay.testing.Fast;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.http2.api.Session;
import org.eclipse.jetty.http2.api.Stream;
import org.eclipse.jetty.http2.client.HTTP2Client;
import org.eclipse.jetty.http2.frames.DataFrame;
import org.eclipse.jetty.http2.frames.HeadersFrame;
import org.eclipse.jetty.http2.frames.ResetFrame;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What goes over the wire on both sides of the proxy, byte by byte; the server inside is played by the test.
@Timeout(60)
@Fast
class ProxyWireTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @SuppressWarnings("NullAway.Init")
    private TestHttp edge;

    @SuppressWarnings("NullAway.Init")
    private RawServer server;

    private final ReverseProxy proxy = new ReverseProxy(new Meters());

    @BeforeEach
    void serve() throws IOException {
        server = new RawServer();
        edge = new TestHttp(directory, exchange -> proxy.forward(exchange, server.upstream()));
    }

    @AfterEach
    void stop() throws IOException {
        edge.close();
        proxy.close();
        server.close();
    }

    private RawClient client(String request) throws IOException {
        return new RawClient(edge.plain).send(request);
    }

    @Test
    void keepsHeadersOfTheHopToItself() throws Exception {
        try (var client = client("GET /a%2Fb?q=1 HTTP/1.1\r\nHost: app.test:8\r\nConnection: close, X-Secret\r\n"
                + "X-Secret: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\nProxy-Authorization: x\r\nProxy-Connection: y\r\n"
                + "X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\nE2B-Traffic-Access-Token: t\r\n"
                + "X-API-KEY: mine\r\nAuthorization: Bearer z\r\n\r\n")) {
            Socket inside = server.accept();
            assertThat(RawServer.head(inside))
                    .startsWith("GET /a%2Fb?q=1 HTTP/1.1\r\nHost: app.test:8\r\n")
                    .contains(
                            "X-Forwarded-For: 192.0.2.7\r\n",
                            "X-Forwarded-Proto: https\r\n",
                            "E2B-Traffic-Access-Token: t\r\n",
                            "X-API-KEY: mine\r\n",
                            "Authorization: Bearer z\r\n")
                    .doesNotContainIgnoringCase("X-Secret")
                    .doesNotContainIgnoringCase("Keep-Alive")
                    .doesNotContainIgnoringCase("TE: ")
                    .doesNotContainIgnoringCase("Proxy-")
                    .doesNotContainIgnoringCase("Via")
                    .doesNotContainIgnoringCase("X-Forwarded-Host");
            RawServer.write(
                    inside,
                    "HTTP/1.1 200 OK\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nX-Kept: 2\r\n"
                            + "Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 2\r\n\r\nok");
            assertThat(client.head())
                    .contains("X-Kept: 2", "Set-Cookie: a=1", "Set-Cookie: b=2", "Content-Length: 2")
                    .noneMatch(line -> line.startsWith("X-Hop") || line.startsWith("Keep-Alive"));
            assertThat(client.exactly(2)).isEqualTo("ok");
        }
    }

    @Test
    void answersWithoutABodyStaySo() throws Exception {
        try (var client = new RawClient(edge.plain)) {
            client.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
            Socket inside = server.accept();
            RawServer.head(inside);
            RawServer.write(inside, "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n");
            assertThat(client.head()).contains("HTTP/1.1 200 OK", "Content-Length: 1234");
            for (String answer : List.of(
                    "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 99\r\n\r\n",
                    "HTTP/1.1 204 No Content\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) {
                client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
                // The same connection: had a body been expected, the next answer would be taken for it.
                RawServer.head(inside);
                RawServer.write(inside, answer);
                assertThat(client.head().getFirst()).isEqualTo(answer.substring(0, answer.indexOf("\r\n")));
            }
            client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
            RawServer.head(inside);
            RawServer.write(inside, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend");
            client.head();
            assertThat(client.exactly(3)).isEqualTo("end");
        }
    }

    @Test
    void passesChunksAndWhatComesAfterThem() throws Exception {
        try (var client = client("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")) {
            Socket inside = server.accept();
            assertThat(RawServer.head(inside)).contains("Transfer-Encoding: chunked\r\n");
            client.chunk("one");
            assertThat(new String(inside.getInputStream().readNBytes(8), ISO_8859_1))
                    .isEqualTo("3\r\none\r\n");
            client.send("0\r\n\r\n");
            assertThat(new String(inside.getInputStream().readNBytes(5), ISO_8859_1))
                    .isEqualTo("0\r\n\r\n");
            RawServer.write(inside, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n");
            assertThat(client.head()).contains("Transfer-Encoding: chunked");
            // The end of a chunk's line may come with the next one.
            assertThat(client.line()).isEqualTo("2");
            assertThat(client.exactly(2)).isEqualTo("hi");
            RawServer.write(inside, "0\r\nX-Sum: 42\r\n\r\n");
            assertThat(client.line()).isEmpty();
            assertThat(client.line()).isEqualTo("0");
            assertThat(client.line()).isEqualTo("X-Sum: 42");
        }
    }

    @Test
    void passesEarlyHintsButNeverAsTheAnswer() throws Exception {
        for (String version : List.of("1.1", "1.0")) {
            try (var client = client("GET / HTTP/" + version + "\r\nHost: x\r\nConnection: close\r\n\r\n")) {
                Socket inside = server.accept();
                RawServer.head(inside);
                RawServer.write(inside, "HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\n");
                if (version.equals("1.1")) {
                    assertThat(client.head()).contains("HTTP/1.1 103 Early Hints", "Link: </s.css>; rel=preload");
                }
                RawServer.write(inside, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
                assertThat(client.head().getFirst()).contains("200");
                assertThat(client.exactly(2)).isEqualTo("ok");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void understandsServersOfHttp10(boolean second) throws Exception {
        var answer = edge.client(second).sendAsync(edge.request(second, "/").build(), BodyHandlers.ofString());
        Socket inside = server.accept();
        RawServer.head(inside);
        RawServer.write(
                inside, "HTTP/1.0 200 OK\r\nServer: SimpleHTTP/0.6\r\nContent-Type: text/plain\r\n\r\nup to the end");
        inside.close();
        assertThat(answer.get(20, TimeUnit.SECONDS).body()).isEqualTo("up to the end");
    }

    /// What two servers could read as different numbers of requests is refused by the first.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +4\r\n\r\nabcd",
                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: x\r\nX : y\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n Transfer-Encoding: chunked\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"
            })
    void refusesWhatCouldHideARequest(String request) throws Exception {
        try (var client = client(request)) {
            assertThat(client.head().getFirst()).startsWith("HTTP/1.1 400");
        }
        assertThat(server.hasMore()).isFalse();
    }

    /// HTTP/2 does not need the length to find the end of a body, so a client can lie about it.
    @ParameterizedTest
    @ValueSource(ints = {5, 500})
    void aBodyIsNeverLongerOrShorterThanAnnounced(int announced) throws Exception {
        var client = new HTTP2Client();
        client.start();
        try {
            Session session =
                    client.connect(edge.plain, new Session.Listener() {}).get(20, TimeUnit.SECONDS);
            var fields = HttpFields.build().add("content-length", Integer.toString(announced));
            var uri = HttpURI.from("http://localhost:" + edge.plain.getPort() + "/");
            var head = new MetaData.Request("POST", uri, HttpVersion.HTTP_2, fields);
            var reset = new CountDownLatch(1);
            Stream stream = session.newStream(new HeadersFrame(head, null, false), new Stream.Listener() {
                        @Override
                        public void onReset(Stream stream, ResetFrame frame, Callback callback) {
                            reset.countDown();
                            callback.succeeded();
                        }
                    })
                    .get(20, TimeUnit.SECONDS);
            String hidden = "aaaaaGET /hidden HTTP/1.1\r\nHost: x\r\n\r\n";
            Socket inside = server.accept();
            assertThat(RawServer.head(inside)).contains("Content-Length: " + announced);
            stream.data(new DataFrame(stream.getId(), ByteBuffer.wrap(hidden.getBytes(ISO_8859_1)), false))
                    .get(20, TimeUnit.SECONDS)
                    .data(new DataFrame(stream.getId(), ByteBuffer.allocate(0), true));
            assertThat(reset.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(inside.getInputStream().available()).isLessThanOrEqualTo(announced);
            // Nor is what is missing taken from the next request: that goes elsewhere.
            try (var other = client("GET /next HTTP/1.1\r\nHost: x\r\n\r\n")) {
                Socket another = server.accept();
                assertThat(RawServer.head(another)).startsWith("GET /next");
                RawServer.write(another, "HTTP/1.1 204 No Content\r\n\r\n");
                assertThat(other.head().getFirst()).contains("204");
            }
        } finally {
            client.stop();
        }
    }

    private static final long MUCH = 80L << 20;
    /// More than all buffers of sockets and proxy together; a proxy that buffers takes all of it.
    private static final long SOME = 40L << 20;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aServerThatDoesNotReadMakesTheClientWait(boolean second) throws Exception {
        var sent = new AtomicLong();
        var body = BodyPublishers.ofInputStream(() -> new Counted(sent));
        var answer = edge.client(second)
                .sendAsync(edge.request(second, "/").POST(body).build(), BodyHandlers.ofString());
        Socket inside = server.accept();
        RawServer.head(inside);
        assertThat(settled(sent)).isBetween(1L, SOME);
        Thread.ofVirtual().start(() -> {
            try {
                inside.getInputStream().skipNBytes(MUCH);
                RawServer.write(inside, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nread");
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        });
        assertThat(answer.get(30, TimeUnit.SECONDS).body()).isEqualTo("read");
        assertThat(sent.get()).isEqualTo(MUCH);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aClientThatDoesNotReadMakesTheServerWait(boolean second) throws Exception {
        var sent = new AtomicLong();
        var answer = edge.client(second).sendAsync(edge.request(second, "/").build(), BodyHandlers.ofInputStream());
        Socket inside = server.accept();
        RawServer.head(inside);
        RawServer.write(inside, "HTTP/1.1 200 OK\r\nContent-Length: " + MUCH + "\r\n\r\n");
        Thread.ofVirtual().start(() -> {
            try (var from = new Counted(sent)) {
                from.transferTo(inside.getOutputStream());
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        });
        var reading = answer.get(20, TimeUnit.SECONDS);
        assertThat(settled(sent)).isBetween(1L, SOME);
        reading.body().skipNBytes(MUCH);
        assertThat(sent.get()).isEqualTo(MUCH);
    }

    /// Where a count stands when it has not moved for a while.
    private static long settled(AtomicLong count) throws InterruptedException {
        long last = -1;
        for (int same = 0; same < 10; Thread.sleep(50)) {
            long now = count.get();
            same = now == last && now > 0 ? same + 1 : 0;
            last = now;
        }
        return last;
    }

    /// So many zeros, and how many of them were taken.
    private static final class Counted extends InputStream {
        private final AtomicLong count;

        Counted(AtomicLong count) {
            this.count = count;
        }

        @Override
        public int read() {
            return count.get() < MUCH && count.incrementAndGet() > 0 ? 0 : -1;
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            int some = (int) Math.min(length, MUCH - count.get());
            count.addAndGet(Math.max(0, some));
            return some > 0 ? some : -1;
        }
    }
}
