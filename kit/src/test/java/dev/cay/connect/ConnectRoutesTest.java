package dev.cay.connect;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.cay.http.ClientGone;
import dev.cay.http.TestHttp;
import dev.cay.metrics.Meters;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.process.ConnectRequest;
import dev.cay.wire.process.ListRequest;
import dev.cay.wire.process.ListResponse;
import dev.cay.wire.process.ProcessEvent;
import dev.cay.wire.process.ProcessInfo;
import dev.cay.wire.process.StartRequest;
import dev.cay.wire.process.StartResponse;
import dev.cay.wire.process.StreamInputRequest;
import dev.cay.wire.process.StreamInputResponse;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Fast
class ConnectRoutesTest {
    private static final String JSON_STREAM = "application/connect+json";

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @SuppressWarnings("NullAway.Init")
    private TestHttp http;

    private final Semaphore next = new Semaphore(0);
    private final CountDownLatch interrupted = new CountDownLatch(1);
    private final AtomicInteger received = new AtomicInteger();

    @BeforeEach
    void serve() throws IOException {
        var routes = new ConnectRoutes(new Meters())
                .unary(
                        "/p/List",
                        ListRequest.getDefaultInstance(),
                        (_, _) -> ListResponse.newBuilder()
                                .addProcesses(ProcessInfo.newBuilder().setPid(7))
                                .build())
                .unary("/p/Pid", ConnectRequest.getDefaultInstance(), (_, request) -> {
                    throw new CayException(
                            ErrorKind.NOT_FOUND,
                            "no process " + request.getProcess().getPid());
                })
                .unary("/p/Busy", ListRequest.getDefaultInstance(), (_, _) -> {
                    throw new CayException(ErrorKind.UNAVAILABLE, "not now");
                })
                .unary("/p/Full", ListRequest.getDefaultInstance(), (_, _) -> {
                    throw new CayException(ErrorKind.EXHAUSTED, "too many");
                })
                .serverStream("/p/Start", StartRequest.getDefaultInstance(), this::start)
                .clientStream("/p/Input", StreamInputRequest.getDefaultInstance(), (_, requests) -> {
                    requests.forEachRemaining(_ -> received.incrementAndGet());
                    return StreamInputResponse.getDefaultInstance();
                });
        http = new TestHttp(directory, routes);
    }

    @AfterEach
    void stop() {
        http.close();
    }

    private void start(ConnectRoutes.Call call, StartRequest request, Sink<StartResponse> sink) throws Exception {
        String command = request.getProcess().getCmd();
        if (command.equals("fail")) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "no such user");
        }
        try {
            sink.send(event(ProcessEvent.newBuilder()
                    .setStart(ProcessEvent.StartEvent.newBuilder().setPid(1234))));
            if (!next.tryAcquire(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("nobody went on");
            }
        } catch (InterruptedException | ClientGone e) {
            // A client that goes as soon as it has the first message may be noticed while that is still being sent.
            interrupted.countDown();
            throw e;
        }
        sink.send(event(ProcessEvent.newBuilder()
                .setData(ProcessEvent.DataEvent.newBuilder().setStdout(ByteString.copyFromUtf8("hi\n")))));
        if (command.equals("fail-late")) {
            throw new CayException(ErrorKind.UNAVAILABLE, "gone");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void saysWhenToCallAgain(boolean second) throws Exception {
        byte[] nothing = "{}".getBytes(StandardCharsets.UTF_8);
        var busy = post(second, "/p/Busy", "application/json", nothing);
        assertThat(busy.statusCode()).isEqualTo(503);
        assertThat(busy.headers().firstValue("Retry-After").orElse("")).matches("[1-9]");
        var full = post(second, "/p/Full", "application/json", nothing);
        assertThat(full.statusCode()).isEqualTo(429);
        assertThat(full.headers().firstValue("Retry-After").orElse("")).matches("[1-9]");
        var missing = post(second, "/p/Pid", "application/json", nothing);
        assertThat(missing.headers().firstValue("Retry-After")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void answersUnaryCallsAsJson(boolean second) throws Exception {
        var answer =
                post(second, "/p/List", "application/json", "{\"unknown_thing\":1}".getBytes(StandardCharsets.UTF_8));
        assertThat(answer.headers().firstValue("content-type")).contains("application/json");
        assertThat(text(answer.body().readAllBytes())).isEqualTo("{\"processes\":[{\"pid\":7}]}");
    }

    @Test
    void answersUnaryCallsAsProtobuf() throws Exception {
        var answer = post(true, "/p/List", "application/proto", new byte[0]);
        assertThat(ListResponse.parseFrom(answer.body()).getProcesses(0).getPid())
                .isEqualTo(7);
    }

    @Test
    void unpacksGzip() throws Exception {
        byte[] body = zipped("{\"process\":{\"pid\":42}}".getBytes(StandardCharsets.UTF_8));
        var answer = http.http1()
                .send(
                        http.request(false, "/p/Pid")
                                .header("Content-Type", "application/json; charset=utf-8")
                                .header("Content-Encoding", "gzip")
                                .POST(BodyPublishers.ofByteArray(body))
                                .build(),
                        BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(404);
        assertThat(answer.body()).isEqualTo("{\"code\":\"not_found\",\"message\":\"no process 42\"}");
    }

    @Test
    void refusesWhatItCannotRead() throws Exception {
        assertThat(post(false, "/p/List", "text/plain", new byte[0]).statusCode())
                .isEqualTo(415);
        assertThat(post(false, "/p/Start", "application/json", new byte[0]).statusCode())
                .isEqualTo(415);
        assertThat(post(false, "/p/None", "application/json", new byte[0]).statusCode())
                .isEqualTo(404);
        var bad = post(false, "/p/Pid", "application/json", "{\"process\":3}".getBytes(StandardCharsets.UTF_8));
        assertThat(bad.statusCode()).isEqualTo(400);
        assertThat(text(bad.body().readAllBytes())).startsWith("{\"code\":\"invalid_argument\"");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void streamsEachMessageAtOnce(boolean second) throws Exception {
        var answer = post(second, "/p/Start", JSON_STREAM, frame(0, "{\"process\":{\"cmd\":\"x\"}}"));
        var in = new DataInputStream(answer.body());
        assertThat(answer.headers().firstValue("content-type")).contains(JSON_STREAM);
        assertThat(readFrame(in)).isEqualTo("0 {\"event\":{\"start\":{\"pid\":1234}}}");
        next.release();
        assertThat(readFrame(in)).isEqualTo("0 {\"event\":{\"data\":{\"stdout\":\"aGkK\"}}}");
        assertThat(readFrame(in)).isEqualTo("2 {}");
        assertThat(in.read()).isEqualTo(-1);
    }

    @Test
    void streamsProtobuf() throws Exception {
        byte[] request = StartRequest.getDefaultInstance().toByteArray();
        next.release();
        var answer = post(true, "/p/Start", "application/connect+proto", frame(0, request));
        var in = new DataInputStream(answer.body());
        assertThat(in.readByte()).isZero();
        var first = StartResponse.parseFrom(in.readNBytes(in.readInt()));
        assertThat(first.getEvent().getStart().getPid()).isEqualTo(1234);
    }

    @Test
    void tellsErrorsInTheLastFrame() throws Exception {
        var early = post(false, "/p/Start", JSON_STREAM, frame(0, "{\"process\":{\"cmd\":\"fail\"}}"));
        assertThat(early.statusCode()).isEqualTo(200);
        assertThat(readFrame(new DataInputStream(early.body())))
                .isEqualTo("2 {\"error\":{\"code\":\"invalid_argument\",\"message\":\"no such user\"}}");
        next.release();
        var late = post(true, "/p/Start", JSON_STREAM, frame(0, "{\"process\":{\"cmd\":\"fail-late\"}}"));
        var in = new DataInputStream(late.body());
        readFrame(in);
        readFrame(in);
        assertThat(readFrame(in)).isEqualTo("2 {\"error\":{\"code\":\"unavailable\",\"message\":\"gone\"}}");
    }

    @Test
    void refusesBrokenFrames() throws Exception {
        var huge = post(false, "/p/Start", JSON_STREAM, new byte[] {0, 127, 0, 0, 0});
        assertThat(readFrame(new DataInputStream(huge.body()))).contains("resource_exhausted");
        var cut = post(false, "/p/Start", JSON_STREAM, new byte[] {0, 0, 0, 0, 9, '{'});
        assertThat(readFrame(new DataInputStream(cut.body()))).contains("invalid_argument");
        var none = post(false, "/p/Start", JSON_STREAM, new byte[0]);
        assertThat(readFrame(new DataInputStream(none.body()))).contains("invalid_argument");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void endsACallWhenItsTimeIsUp(boolean second) throws Exception {
        var request = http.request(second, "/p/Start")
                .header("Content-Type", JSON_STREAM)
                .header("Connect-Timeout-Ms", "150")
                .POST(BodyPublishers.ofByteArray(frame(0, "{}")))
                .build();
        var in = new DataInputStream(
                http.client(second).send(request, BodyHandlers.ofInputStream()).body());
        assertThat(readFrame(in)).contains("1234");
        assertThat(readFrame(in))
                .isEqualTo("2 {\"error\":{\"code\":\"deadline_exceeded\",\"message\":\"context deadline exceeded\"}}");
        assertThat(interrupted.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void interruptsACallWhoseClientWentAway(boolean second) throws Exception {
        var answer = post(second, "/p/Start", JSON_STREAM, frame(0, "{}"));
        readFrame(new DataInputStream(answer.body()));
        answer.body().close();
        assertThat(interrupted.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void readsStreamsOfTheClient(boolean second) throws Exception {
        var body = new ByteArrayOutputStream();
        for (int i = 0; i < 99; i++) {
            body.write(frame(0, "{\"keepalive\":{}}"));
        }
        body.write(frame(1, zipped("{\"keepalive\":{}}".getBytes(StandardCharsets.UTF_8))));
        var request = http.request(second, "/p/Input")
                .header("Content-Type", JSON_STREAM)
                .header("Connect-Content-Encoding", "gzip")
                .POST(BodyPublishers.ofByteArray(body.toByteArray()))
                .build();
        var in = new DataInputStream(
                http.client(second).send(request, BodyHandlers.ofInputStream()).body());
        assertThat(List.of(readFrame(in), readFrame(in))).containsExactly("0 {}", "2 {}");
        assertThat(received.get()).isEqualTo(100);
    }

    private static StartResponse event(ProcessEvent.Builder event) {
        return StartResponse.newBuilder().setEvent(event).build();
    }

    private HttpResponse<InputStream> post(boolean second, String path, String type, byte[] body) throws Exception {
        return http.client(second)
                .send(
                        http.request(second, path)
                                .header("Content-Type", type)
                                .POST(BodyPublishers.ofByteArray(body))
                                .build(),
                        BodyHandlers.ofInputStream());
    }

    private static byte[] frame(int flags, String json) {
        return frame(flags, json.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] frame(int flags, byte[] bytes) {
        return ByteBuffer.allocate(5 + bytes.length)
                .put((byte) flags)
                .putInt(bytes.length)
                .put(bytes)
                .array();
    }

    private static String readFrame(DataInputStream in) throws IOException {
        int flags = in.readByte();
        return flags + " " + text(in.readNBytes(in.readInt()));
    }

    private static byte[] zipped(byte[] bytes) throws IOException {
        var out = new ByteArrayOutputStream();
        try (var zip = new GZIPOutputStream(out)) {
            zip.write(bytes);
        }
        return out.toByteArray();
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
