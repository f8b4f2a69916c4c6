package dev.cay.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Fast
class ExchangeTest {
    record Wish(String name, int count) {}

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @SuppressWarnings("NullAway.Init")
    private TestHttp http;

    private final CountDownLatch ended = new CountDownLatch(1);
    private final CountDownLatch reached = new CountDownLatch(1);

    @BeforeEach
    void serve() throws IOException {
        var routes = new Routes()
                .on("POST", "/lines", TestHttp::echoLines)
                .on("POST", "/bytes", exchange -> {
                    try (OutputStream out = exchange.stream(200)) {
                        out.flush();
                        exchange.body().transferTo(out);
                    }
                })
                .on(
                        "POST",
                        "/empty/{status}",
                        exchange -> exchange.send(Integer.parseInt(exchange.parameter("status"))))
                .on(
                        "GET",
                        "/names/{name}/x",
                        exchange -> exchange.sendJson(200, new Wish(exchange.parameter("name"), 1)))
                .on("POST", "/wish", exchange -> {
                    Wish wish = exchange.json(Wish.class);
                    exchange.sendJson(200, wish == null ? new Wish("nothing", 0) : wish);
                })
                .on("GET", "/fail/{kind}", exchange -> {
                    throw new CayException(ErrorKind.valueOf(exchange.parameter("kind")), "told so");
                })
                .on("POST", "/refused", _ -> {
                    throw new CayException(ErrorKind.INVALID_ARGUMENT, "told so");
                })
                .on("GET", "/bug", _ -> {
                    throw new IllegalStateException("secret detail");
                })
                .on("GET", "/abort", exchange -> exchange.abort("test"))
                .on("GET", "/abort-later", exchange -> {
                    OutputStream out = exchange.stream(200);
                    out.write("begun\n".getBytes(StandardCharsets.UTF_8));
                    out.flush();
                    exchange.abort("test");
                })
                .on("GET", "/abort-too-late", exchange -> {
                    exchange.sendJson(200, "whole");
                    exchange.abort("test");
                })
                .on("GET", "/idle", exchange -> {
                    exchange.onEnd(ended::countDown);
                    exchange.stream(200).flush();
                    reached.countDown();
                    assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
                });
        http = new TestHttp(directory, routes);
    }

    @AfterEach
    void stop() {
        http.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void answersEachLineBeforeTheNextIsSent(boolean second) throws Exception {
        Duplex.echoesLineByLine(http, second, "/lines");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void passesManyBytes(boolean second) throws Exception {
        byte[] bytes = new byte[20_000_000];
        new Random(7).nextBytes(bytes);
        try (var duplex = new Duplex(http, second, "/bytes")) {
            assertThat(Arrays.equals(duplex.echo(bytes), bytes)).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void saysThatAnEmptyAnswerIsEmpty(boolean second) throws Exception {
        for (int status : new int[] {200, 201, 202, 404}) {
            HttpResponse<String> answer = post(second, "/empty/" + status, "");
            assertThat(answer.statusCode()).isEqualTo(status);
            assertThat(answer.headers().firstValue("content-length")).contains("0");
        }
        assertThat(post(false, "/empty/204", "").headers().firstValue("content-length"))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void keepsEncodedSlashesInsideAParameter(boolean second) throws Exception {
        assertThat(get(second, "/names/a%2Fb%3Ac%20d+e/x").body()).isEqualTo("{\"name\":\"a/b:c d+e\",\"count\":1}");
        assertThat(get(second, "/names/..%2F..%2Fetc/x").body()).contains("\"../../etc\"");
    }

    @Test
    void aClientThatIsStillSendingHearsTheAnswer() throws Exception {
        try (var client = new RawClient(http.plain)) {
            client.send("POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\nbegun");
            client.in.mark(1);
            assertThat(client.in.read()).isEqualTo('H');
            client.in.reset();
            client.send("x".repeat(3_000_000 - 5));
            assertThat(client.head().getFirst()).contains("400");
            client.exactly("{'code':400,'message':'told so'}".length());
            client.send("GET /names/a/x HTTP/1.1\r\nHost: x\r\n\r\n");
            assertThat(client.head().getFirst()).contains("200");
        }
    }

    @Test
    void aClientThatSendsForEverIsCut() throws Exception {
        try (var client = new RawClient(http.plain)) {
            client.send("POST /refused HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
            assertThat(client.head().getFirst()).contains("400");
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 1000; i++) {
                            client.chunk("more");
                            Thread.sleep(20);
                        }
                    })
                    .isInstanceOf(IOException.class);
        }
    }

    @Test
    void readsWhatOtherServersRefuse() throws Exception {
        try (var client = new RawClient(http.plain)) {
            client.send("GET /names/%2e%2e/x HTTP/1.1\r\nHost: a_b.localhost\r\nx_under_score: 1\r\n\r\n");
            assertThat(client.head().getFirst()).isEqualTo("HTTP/1.1 200 OK");
            client.exactly("{\"name\":\"..\",\"count\":1}".length());
            client.send("BREW /wish HTTP/1.1\r\nHost: x\r\n\r\n");
            assertThat(client.head()).contains("HTTP/1.1 405 Method Not Allowed", "Allow: POST");
        }
    }

    @Test
    void answersHeadLikeGetButWithoutTheBody() throws Exception {
        try (var client = new RawClient(http.plain)) {
            client.send("HEAD /names/a/x HTTP/1.1\r\nHost: x\r\n\r\n");
            assertThat(client.head()).contains("HTTP/1.1 200 OK", "Content-Length: 22");
            client.send("POST /empty/201 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
            assertThat(client.head().getFirst()).isEqualTo("HTTP/1.1 201 Created");
        }
    }

    @Test
    void explainsBadJson() throws Exception {
        assertThat(post(false, "/wish", "").body()).isEqualTo("{\"name\":\"nothing\",\"count\":0}");
        assertThat(post(false, "/wish", "{\"name\":\"a\",\"count\":2,\"new\":1}")
                        .statusCode())
                .isEqualTo(200);
        assertThat(post(false, "/wish", "{\"name\":\"a\",\"count\":\"2\"}").body())
                .isEqualTo("{\"code\":400,\"message\":\"validation error: count must be a number in range\"}");
        assertThat(post(false, "/wish", "{").body()).contains("not valid JSON");
    }

    @Test
    void turnsFailuresIntoAnswers() throws Exception {
        assertThat(get(false, "/fail/DISK_FULL").body()).isEqualTo("{\"code\":507,\"message\":\"told so\"}");
        assertThat(get(false, "/fail/CANCELED").statusCode()).isEqualTo(499);
        HttpResponse<String> bug = get(false, "/bug");
        assertThat(bug.statusCode()).isEqualTo(500);
        assertThat(bug.body()).contains("error id").doesNotContain("secret");
        assertThat(get(false, "/nowhere").body()).startsWith("{\"code\":404");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void cutsWithAReset(boolean second) {
        assertThatThrownBy(() -> get(second, "/abort"))
                .isInstanceOf(IOException.class)
                .hasMessageMatching(
                        second ? ".*RST_STREAM.*|.*reset.*" : ".*reset.*|.*header parser received no bytes.*");
        assertThatThrownBy(() -> get(second, "/abort-later")).isInstanceOf(IOException.class);
    }

    @Test
    void aCutIsATcpResetOnHttp1() throws Exception {
        try (var client = new RawClient(http.plain)) {
            client.send("GET /abort-later HTTP/1.1\r\nHost: x\r\n\r\n");
            assertThatThrownBy(() -> {
                        client.head();
                        client.chunk();
                        client.line();
                    })
                    .isInstanceOf(java.net.SocketException.class)
                    .hasMessageContaining("reset");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void oneWhoHasTheWholeAnswerIsNotCutOff(boolean second) throws Exception {
        assertThat(get(second, "/abort-too-late").body()).isEqualTo("\"whole\"");
    }

    @Test
    void theConnectionOfOneWhoHasTheWholeAnswerServesTheNextRequest() throws Exception {
        try (var client = new RawClient(http.plain)) {
            for (int i = 0; i < 3; i++) {
                client.send("GET /abort-too-late HTTP/1.1\r\nHost: x\r\n\r\n");
                assertThat(client.head().getFirst()).startsWith("HTTP/1.1 200");
                assertThat(client.exactly(7)).isEqualTo("\"whole\"");
            }
        }
    }

    @Test
    void noticesThatTheClientOfAnIdleStreamWentAway() throws Exception {
        try (var client = new RawClient(http.plain)) {
            client.send("GET /idle HTTP/1.1\r\nHost: x\r\n\r\n");
            assertThat(client.head().getFirst()).contains("200");
            assertThat(reached.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(ended.getCount()).isEqualTo(1);
        }
        assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void noticesThatTheClientOfAnIdleHttp2StreamWentAway() throws Exception {
        InputStream in = http.http2()
                .send(http.request(true, "/idle").build(), BodyHandlers.ofInputStream())
                .body();
        assertThat(reached.await(20, TimeUnit.SECONDS)).isTrue();
        in.close();
        assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void noticesThatTheClientOfAnIdleTlsStreamWentAway() throws Exception {
        try (var tls = http.trusting().getSocketFactory().createSocket("localhost", http.secure.getPort())) {
            tls.setSoTimeout(20_000);
            tls.getOutputStream().write("GET /idle HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(TestHttp.readLine(tls.getInputStream())).startsWith("HTTP/1.1 200");
            assertThat(reached.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(ended.getCount()).isEqualTo(1);
        }
        assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void answersARequestThatWasSentWhileTheFirstWasWatched() throws Exception {
        try (var client = new RawClient(http.plain)) {
            client.send("GET /idle HTTP/1.1\r\nHost: x\r\n\r\n");
            client.head();
            client.send("POST /empty/201 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
            ended.countDown();
            assertThat(client.line()).isEqualTo("0");
            client.line();
            assertThat(client.head().getFirst()).isEqualTo("HTTP/1.1 201 Created");
        }
    }

    private HttpResponse<String> get(boolean second, String path) throws Exception {
        return http.client(second).send(http.request(second, path).build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> post(boolean second, String path, String body) throws Exception {
        return http.client(second)
                .send(
                        http.request(second, path)
                                .POST(BodyPublishers.ofString(body))
                                .build(),
                        BodyHandlers.ofString());
    }
}
