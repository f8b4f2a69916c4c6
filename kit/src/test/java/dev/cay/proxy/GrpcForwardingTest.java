package dev.cay.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.http.HttpListeners;
import dev.cay.http.Routes;
import dev.cay.http.TestHttp;
import dev.cay.metrics.Meters;
import dev.cay.testing.Fast;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.client.ContentResponse;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.client.InputStreamResponseListener;
import org.eclipse.jetty.client.OutputStreamRequestContent;
import org.eclipse.jetty.client.StringRequestContent;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http2.client.HTTP2Client;
import org.eclipse.jetty.http2.client.transport.HttpClientTransportOverHTTP2;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Calls of gRPC as its libraries make them: HTTP/2 all the way, and trailers that tell how the call ended.
@Timeout(60)
@Fast
class GrpcForwardingTest {
    private static final String GRPC = "application/grpc+proto";

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @SuppressWarnings("NullAway.Init")
    private TestHttp edge;

    private final HttpListeners inside = new HttpListeners();
    private final ReverseProxy proxy = new ReverseProxy(new Meters());
    private final HttpClient client = new HttpClient(new HttpClientTransportOverHTTP2(new HTTP2Client()));
    private final AtomicInteger connections = new AtomicInteger();
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile int port;

    @BeforeEach
    void serve() throws Exception {
        var routes = new Routes()
                .on("POST", "/svc/Echo", exchange -> {
                    exchange.response()
                            .setTrailersSupplier(() -> HttpFields.build().add("grpc-status", "0"));
                    exchange.with("Content-Type", GRPC)
                            .with(
                                    "X-Seen",
                                    exchange.http1() + " " + exchange.authority() + " " + exchange.header("TE"));
                    var out = exchange.stream(200);
                    out.flush();
                    for (int one = exchange.body().read();
                            one >= 0;
                            one = exchange.body().read()) {
                        out.write(one);
                        out.flush();
                    }
                })
                .on(
                        "POST",
                        "/svc/Headers",
                        exchange -> exchange.with("Content-Type", GRPC)
                                .with("X-Seen", exchange.header("X-Ours") + " " + exchange.header("X-Theirs"))
                                .send(200))
                .on(
                        "POST",
                        "/svc/Refuse",
                        exchange -> exchange.with("Content-Type", GRPC)
                                .with("grpc-status", "5")
                                .with("grpc-message", "no such thing")
                                .send(200))
                .on("POST", "/svc/Idle", exchange -> {
                    exchange.onEnd(ended::countDown);
                    exchange.with("Content-Type", GRPC).stream(200).flush();
                    assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
                });
        port = inside.listen(TestHttp.loopback(), routes).getPort();
        proxy.start();
        edge = new TestHttp(directory, exchange -> {
            WithheldHeaders.headers(exchange, Set.of("X-Ours"));
            try {
                proxy.forward(exchange, new Upstream("k", port, this::connect, null));
            } catch (ConnectException e) {
                exchange.send(502);
            }
        });
        client.start();
    }

    private SocketChannel connect(int to) throws IOException {
        connections.incrementAndGet();
        return SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), to));
    }

    @AfterEach
    void stop() throws Exception {
        client.stop();
        edge.close();
        proxy.close();
        inside.close();
    }

    private ContentResponse call(String path, String type, String body) throws Exception {
        return client.newRequest("http://localhost:" + edge.plain.getPort() + path)
                .method("POST")
                .headers(headers ->
                        headers.add("TE", "trailers").add("X-Ours", "secret").add("X-Theirs", "word"))
                .body(new StringRequestContent(type, body, UTF_8))
                .timeout(20, TimeUnit.SECONDS)
                .send();
    }

    @Test
    void passesACallWithItsTrailersOverOneConnection() throws Exception {
        for (int i = 0; i < 10; i++) {
            var answer = call("/svc/Echo", GRPC, "message " + i);
            assertThat(answer.getContentAsString()).isEqualTo("message " + i);
            assertThat(answer.getHeaders().get("X-Seen"))
                    .isEqualTo("false localhost:" + edge.plain.getPort() + " trailers");
            assertThat(answer.getTrailers().get("grpc-status")).isEqualTo("0");
        }
        assertThat(connections.get()).isEqualTo(1);
    }

    @Test
    void keepsCredentialsFromTheServer() throws Exception {
        assertThat(call("/svc/Headers", GRPC, "x").getHeaders().get("X-Seen")).isEqualTo("null word");
    }

    @Test
    void anythingElseGoesByHttp1() throws Exception {
        for (String type : new String[] {"application/json", "application/grpc-web+proto", "application/grpcx"}) {
            var answer = call("/svc/Echo", type, "message");
            assertThat(answer.getContentAsString()).isEqualTo("message");
            assertThat(answer.getHeaders().get("X-Seen")).startsWith("true ");
        }
    }

    @Test
    void passesAnAnswerThatIsOnlyTrailers() throws Exception {
        var answer = call("/svc/Refuse", "application/grpc", "x");
        assertThat(answer.getStatus()).isEqualTo(200);
        assertThat(answer.getHeaders().get("grpc-status")).isEqualTo("5");
        assertThat(answer.getHeaders().get("grpc-message")).isEqualTo("no such thing");
    }

    @Test
    void messagesPassBothWaysWhileTheCallIsOpen() throws Exception {
        var content = new OutputStreamRequestContent(GRPC);
        var answer = new InputStreamResponseListener();
        client.newRequest("http://localhost:" + edge.plain.getPort() + "/svc/Echo")
                .method("POST")
                .body(content)
                .send(answer);
        var out = content.getOutputStream();
        out.write('a');
        out.flush();
        assertThat(answer.get(20, TimeUnit.SECONDS).getStatus()).isEqualTo(200);
        var in = answer.getInputStream();
        assertThat(in.read()).isEqualTo('a');
        for (int i = 0; i < 50; i++) {
            out.write('0' + i % 10);
            out.flush();
            assertThat(in.read()).isEqualTo('0' + i % 10);
        }
        out.close();
        assertThat(in.read()).isEqualTo(-1);
        var ended = answer.await(20, TimeUnit.SECONDS).getResponse();
        assertThat(ended.getTrailers().get("grpc-status")).isEqualTo("0");
    }

    @Test
    void manyCallsAtOnceShareConnections() throws Exception {
        var open = new ArrayList<InputStreamResponseListener>();
        for (int i = 0; i < 40; i++) {
            var answer = new InputStreamResponseListener();
            client.newRequest("http://localhost:" + edge.plain.getPort() + "/svc/Idle")
                    .method("POST")
                    .headers(headers -> headers.add("Content-Type", GRPC))
                    .send(answer);
            assertThat(answer.get(20, TimeUnit.SECONDS).getStatus()).isEqualTo(200);
            open.add(answer);
        }
        assertThat(connections.get()).isEqualTo(1);
        proxy.cut("k");
        for (var answer : open) {
            assertThatThrownBy(() -> answer.getInputStream().read()).isInstanceOf(IOException.class);
        }
    }

    @Test
    void theCallInsideEndsWhenTheClientLeaves() throws Exception {
        var answer = new InputStreamResponseListener();
        var request = client.newRequest("http://localhost:" + edge.plain.getPort() + "/svc/Idle")
                .method("POST")
                .headers(headers -> headers.add("Content-Type", GRPC));
        request.send(answer);
        answer.get(20, TimeUnit.SECONDS);
        request.abort(new IOException("enough"));
        assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @RepeatedTest(20)
    void saysSoWhenTheServerSpeaksSomethingElseOrIsNotThere() throws Exception {
        try (var server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            port = server.getLocalPort();
            Thread.ofVirtual().start(() -> {
                try (var socket = server.accept()) {
                    socket.getInputStream().read(new byte[1000]);
                    socket.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(UTF_8));
                } catch (IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            });
            var answer = call("/svc/Echo", GRPC, "x");
            assertThat(answer.getStatus()).isEqualTo(502);
            assertThat(answer.getContentAsString()).contains("HTTP/2");
        }
        assertThat(call("/svc/Echo", GRPC, "x").getStatus()).isEqualTo(502);
    }
}
