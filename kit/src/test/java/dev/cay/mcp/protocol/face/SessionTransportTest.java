package dev.cay.mcp.protocol.face;

import static dev.cay.mcp.protocol.face.FaceServer.call;
import static dev.cay.mcp.protocol.face.FaceServer.code;
import static dev.cay.mcp.protocol.face.FaceServer.tool;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
@Fast
class SessionTransportTest {
    private static final String SESSION = "Mcp-Session-Id";
    private static final String VERSION = "MCP-Protocol-Version";

    private FaceServer server;

    @BeforeEach
    void start() throws Exception {
        start(HttpFace.Settings.usual());
    }

    private void start(HttpFace.Settings settings) throws Exception {
        server = new FaceServer(settings);
    }

    private static HttpFace.Settings sessions(int most, Duration idle) {
        var usual = HttpFace.Settings.usual();
        return new HttpFace.Settings(usual.largestMessage(), idle, most, usual.keepAlive(), usual.hosts());
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void nobodyLearnsAnythingWithoutAToken() throws Exception {
        String session = server.initialize("one");
        for (String method : new String[] {"GET", "DELETE", "POST", "PUT"}) {
            for (String token : new String[] {null, "Bearer three", "Basic one", "Bearer", ""}) {
                var answer =
                        server.send(method, "Authorization", token, SESSION, session, "Origin", "http://evil.example");
                assertThat(answer.statusCode()).isEqualTo(401);
                assertThat(answer.headers().firstValue("WWW-Authenticate")).contains("Bearer");
            }
        }
        assertThat(server.post("{", "Authorization", "Bearer three").statusCode())
                .isEqualTo(401);
        assertThat(server.face.sessions()).isEqualTo(1);
    }

    @Test
    void pagesOfOthersAndOtherNamesAreRefused() throws Exception {
        for (String origin : new String[] {"http://evil.example", "null", "https://localhost.evil.example", "x"}) {
            assertThat(server.post(call("initialize", 1, "{}"), "Origin", origin)
                            .statusCode())
                    .isEqualTo(403);
        }
        for (String origin : new String[] {"http://localhost:3000", "http://127.0.0.1", "http://[::1]:7", null}) {
            assertThat(server.post(call("initialize", 1, "{}"), "Origin", origin)
                            .statusCode())
                    .isEqualTo(200);
        }
        assertThat(raw("POST /mcp HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer one\r\n"
                        + "Connection: close\r\nContent-Length: 0\r\n\r\n"))
                .startsWith("HTTP/1.1 403");
        assertThat(raw("POST /mcp HTTP/1.1\r\nHost: localhost:1\r\nAuthorization: Bearer one\r\n"
                        + "Connection: close\r\nContent-Length: 0\r\n\r\n"))
                .startsWith("HTTP/1.1 415");
    }

    private String raw(String request) throws Exception {
        try (var socket = new java.net.Socket(server.address.getAddress(), server.address.getPort())) {
            socket.getOutputStream().write(request.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        }
    }

    @Test
    void hostsThatAreAcceptedAre() throws Exception {
        server.close();
        start(HttpFace.Settings.usual().withHosts(name -> name.equals("tools.example")));
        assertThat(server.post(call("initialize", 1, "{}"), "Origin", "https://Tools.example")
                        .statusCode())
                .isEqualTo(200);
    }

    @Test
    void everyStatusHasItsRule() throws Exception {
        String begin = call("initialize", 1, "{}");
        assertThat(server.send("PUT").statusCode()).isEqualTo(405);
        assertThat(server.post(begin, "Content-Type", "text/plain").statusCode())
                .isEqualTo(415);
        assertThat(server.post(begin, "Content-Type", null).statusCode()).isEqualTo(415);
        assertThat(server.post(begin, "Content-Type", "application/json; charset=utf-8")
                        .statusCode())
                .isEqualTo(200);
        assertThat(server.post(begin, "Accept", "application/json").statusCode())
                .isEqualTo(406);
        assertThat(server.post(begin, "Accept", "text/event-stream").statusCode())
                .isEqualTo(406);
        assertThat(server.post(begin, "Accept", "*/*").statusCode()).isEqualTo(200);
        assertThat(code(server.post("{"))).isEqualTo(-32700);
        assertThat(server.post("{").statusCode()).isEqualTo(400);
        assertThat(code(server.post("[" + begin + "]"))).isEqualTo(-32600);
        assertThat(server.post("[]").statusCode()).isEqualTo(400);
        assertThat(server.post(call("ping", 2, "{}")).statusCode()).isEqualTo(400);
        assertThat(server.post(call("ping", 2, "{}"), SESSION, "unknown").statusCode())
                .isEqualTo(404);
        assertThat(server.send("GET").statusCode()).isEqualTo(400);
        assertThat(server.send("GET", "Accept", "application/json").statusCode())
                .isEqualTo(406);
        assertThat(server.send("GET", SESSION, "unknown").statusCode()).isEqualTo(404);
        assertThat(server.send("DELETE").statusCode()).isEqualTo(400);
        assertThat(server.send("DELETE", SESSION, "unknown").statusCode()).isEqualTo(404);
    }

    @Test
    void aMessageThatIsTooLargeIsRefused() throws Exception {
        server.close();
        start(new HttpFace.Settings(1000, Duration.ofMinutes(1), 5, Duration.ofSeconds(15), _ -> false));
        String large = call("initialize", 1, "{\"x\": \"%s\"}".formatted("x".repeat(1000)));
        assertThat(server.post(large).statusCode()).isEqualTo(413);
        var unannounced = server.client.send(
                server.request()
                        .POST(HttpRequest.BodyPublishers.ofInputStream(
                                () -> new java.io.ByteArrayInputStream(large.getBytes())))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(unannounced.statusCode()).isEqualTo(413);
    }

    @Test
    void aSessionFromItsBeginningToItsEnd() throws Exception {
        String session = server.initialize("one");
        var conversation = server.conversation();
        assertThat(session).matches("[\\x21-\\x7e]{20,}");
        assertThat(server.post("{\"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\"}", SESSION, session)
                        .statusCode())
                .isEqualTo(202);
        assertThat(server.post("{\"jsonrpc\": \"2.0\", \"id\": 5, \"result\": {}}", SESSION, session)
                        .statusCode())
                .isEqualTo(202);
        var echo = server.post(tool(7, "echo"), SESSION, session, VERSION, "2025-11-25");
        assertThat(echo.headers().firstValue("Content-Type")).contains("application/json");
        assertThat(echo.body()).contains("\"id\":7").contains("{\\\"a\\\":1}");
        assertThat(server.post(tool(8, "echo"), SESSION, session, VERSION, "1999-01-01")
                        .statusCode())
                .isEqualTo(400);
        assertThat(code(server.post(call("nothing", 9, "{}"), SESSION, session)))
                .isEqualTo(-32601);
        assertThat(code(server.post(call("broken", 9, "{}"), SESSION, session))).isEqualTo(-32603);

        assertThat(server.post(tool(8, "echo"), SESSION, session, "Authorization", "Bearer two")
                        .statusCode())
                .as("another owner")
                .isEqualTo(404);
        assertThat(server.send("DELETE", SESSION, session, "Authorization", "Bearer two")
                        .statusCode())
                .isEqualTo(404);
        assertThat(server.send("DELETE", SESSION, session).statusCode()).isEqualTo(204);
        assertThat(server.post(tool(8, "echo"), SESSION, session).statusCode()).isEqualTo(404);
        assertThat(conversation.told).contains("notifications/initialized", "closed");
    }

    @Test
    void progressIsHeardWhileTheCallGoesOn() throws Exception {
        String session = server.initialize("one");
        try (var events = server.open(tool(1, "hold"), SESSION, session, VERSION, "2025-11-25")) {
            assertThat(events.response.headers().firstValue("Content-Type")).contains("text/event-stream");
            assertThat(events.response.headers().firstValue("X-Accel-Buffering"))
                    .contains("no");
            assertThat(events.response.headers().firstValue("Cache-Control").orElseThrow())
                    .contains("no-cache");
            var first = events.require();
            assertThat(first.data()).isEmpty();
            assertThat(first.id()).isEqualTo("2-0");
            assertThat(events.require().data()).contains("holding");
            server.conversation().release();
            assertThat(events.require().data()).contains("released");
            assertThat(events.next()).isNull();
        }
    }

    @Test
    void clientsOfEarlierRevisionsGetNoEventWithoutData() throws Exception {
        String session = server.initialize("one");
        try (var events = server.open(tool(1, "hold"), SESSION, session, VERSION, "2025-06-18")) {
            assertThat(events.require().data()).contains("holding");
        }
    }

    @Test
    void aLostConnectionIsNoCancellationAndItsRestCanBeFetched() throws Exception {
        String session = server.initialize("one");
        var conversation = server.conversation();
        String last;
        try (var events = server.open(tool(1, "hold"), SESSION, session, VERSION, "2025-11-25")) {
            events.require();
            last = events.require().id();
        }
        assertThat(conversation.told).doesNotContain("notifications/cancelled");
        try (var rest = server.listen(SESSION, session, VERSION, "2025-11-25", "Last-Event-ID", last)) {
            assertThat(rest.require().id()).isEqualTo(last);
            conversation.release();
            assertThat(rest.require().data()).contains("released");
            assertThat(rest.next()).isNull();
        }
        try (var again = server.listen(SESSION, session, "Last-Event-ID", last)) {
            assertThat(again.require().data()).contains("released");
        }
        assertThat(server.send("GET", SESSION, session, "Last-Event-ID", "99-1").statusCode())
                .isEqualTo(400);
    }

    /// In the way of 2025-11-25, which earlier ones would take for the end.
    @Test
    void whoeverIsLetGoComesBackForTheAnswer() throws Exception {
        String session = server.initialize("one");
        var conversation = server.conversation();
        String last;
        try (var events = server.open(tool(1, "poll"), SESSION, session, VERSION, "2025-11-25")) {
            var first = events.require();
            assertThat(first.data()).isEmpty();
            assertThat(first.retry()).isEqualTo("1000");
            last = first.id();
            assertThat(events.next()).as("the stream has ended").isNull();
        }
        try (var rest = server.listen(SESSION, session, VERSION, "2025-11-25", "Last-Event-ID", last)) {
            rest.require();
            conversation.release();
            assertThat(rest.require().data()).contains("released");
        }
        try (var events = server.open(tool(2, "poll"), SESSION, session, VERSION, "2025-06-18")) {
            conversation.release();
            assertThat(events.require().data()).contains("released");
        }
    }

    @Test
    void whatBelongsToNoRequestComesOnTheStreamOfTheSession() throws Exception {
        String session = server.initialize("one");
        var conversation = server.conversation();
        conversation.client.send(ScriptedConversation.notice("early"));
        String last;
        try (var events = server.listen(SESSION, session)) {
            assertThat(events.require().data()).contains("early");
            assertThat(server.send("GET", SESSION, session).statusCode()).isEqualTo(409);
            conversation.client.send(ScriptedConversation.notice("now"));
            var now = events.require();
            assertThat(now.data()).contains("now");
            last = now.id();
            try (var newer = server.listen(SESSION, session, "Last-Event-ID", last)) {
                assertThat(events.next()).as("the older one is replaced").isNull();
                conversation.client.send(ScriptedConversation.notice("later"));
                assertThat(newer.require().data()).contains("later");
            }
        }
    }

    @Test
    void silentStreamsSayThatTheyAreThere() throws Exception {
        server.close();
        start(new HttpFace.Settings(1000, Duration.ofMinutes(1), 5, Duration.ofMillis(50), _ -> false));
        String session = server.initialize("one");
        try (var events = server.listen(SESSION, session)) {
            var reader = new java.io.InputStreamReader(events.response.body());
            assertThat((char) reader.read()).isEqualTo(':');
        }
    }

    @Test
    void aClientThatDoesNotReadBlocksNobodyAndIsNotRemembered() throws Exception {
        String session = server.initialize("one");
        var conversation = server.conversation();
        try (var events = server.open(tool(1, "flood"), SESSION, session, VERSION, "2025-11-25")) {
            assertThat(conversation.told.poll(30, TimeUnit.SECONDS)).isEqualTo("flooded");
            assertThat(server.post(tool(2, "echo"), SESSION, session).statusCode())
                    .isEqualTo(200);
            int count = 0;
            String last = "";
            for (var event = events.next(); event != null; event = events.next()) {
                count++;
                last = event.data();
            }
            assertThat(last).as("the answer is never dropped").contains("flooded");
            assertThat(count).isLessThan(20_000);
        }
    }

    @Test
    void aClientThatDoesNotReadIsCutOff() throws Exception {
        server.close();
        start(new HttpFace.Settings(1000, Duration.ofSeconds(2), 5, Duration.ofMillis(100), _ -> false));
        String body = tool(1, "large");
        String head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer one\r\nMcp-Session-Id: %s\r\n"
                + "Content-Type: application/json\r\nAccept: */*\r\nContent-Length: %d\r\n\r\n";
        try (var socket = new java.net.Socket(server.address.getAddress(), server.address.getPort())) {
            String request = head.formatted(server.initialize("one"), body.length()) + body;
            socket.getOutputStream().write(request.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
            // It is busy as long as it writes, and idle for long when it has given up.
            var conversation = server.conversation();
            assertThat(conversation.told.poll(60, TimeUnit.SECONDS)).isEqualTo("closed");
        }
    }

    @Test
    void theLongestIdleGoesWhenThereIsNoRoomAndTheBusyStay() throws Exception {
        server.close();
        start(sessions(2, Duration.ofMinutes(30)));
        String first = server.initialize("one");
        String second = server.initialize("one");
        server.initialize("one");
        assertThat(server.post(tool(1, "echo"), SESSION, first).statusCode()).isEqualTo(404);
        String third = server.initialize("one");
        assertThat(server.post(tool(1, "echo"), SESSION, second).statusCode()).isEqualTo(404);
        assertThat(server.face.sessions()).isEqualTo(2);
        String fourth = server.initialize("two");
        var streams = new ArrayList<FaceServer.Events>();
        for (String busy : new String[] {third, fourth}) {
            String token = "Bearer " + (busy.equals(fourth) ? "two" : "one");
            streams.add(server.open(tool(1, "hold"), SESSION, busy, "Authorization", token));
        }
        var refused = server.post(call("initialize", 1, "{}"));
        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.headers().firstValue("Retry-After").orElse("")).matches("[1-9]");
        for (var stream : streams) {
            stream.close();
        }
    }

    @Test
    void sixtyAbandonedSessionsEndByThemselves() throws Exception {
        server.close();
        start(sessions(100, Duration.ofMillis(500)));
        for (int i = 0; i < 60; i++) {
            server.initialize("one");
        }
        for (int i = 0; i < 60; i++) {
            assertThat(server.conversation().told.poll(30, TimeUnit.SECONDS)).isEqualTo("closed");
        }
        assertThat(server.face.sessions()).isZero();
    }

    @Test
    void timesInWhichNobodyCanComeDoNotCount() throws Exception {
        server.close();
        start(sessions(100, Duration.ofMillis(500)));
        server.away = true;
        server.initialize("one");
        var conversation = server.conversation();
        assertThat(conversation.told.poll(1500, TimeUnit.MILLISECONDS)).isNull();
        server.away = false;
        assertThat(conversation.told.poll(30, TimeUnit.SECONDS)).isEqualTo("closed");
    }

    @Test
    void tooManyCallsOfOneSessionAreRefused() throws Exception {
        String session = server.initialize("one");
        var conversation = server.conversation();
        var streams = new ArrayList<FaceServer.Events>();
        for (int i = 0; i < 256; i++) {
            streams.add(server.open(tool(i, "hold"), SESSION, session));
        }
        var refused = server.post(tool(1000, "echo"), SESSION, session);
        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(refused.headers().firstValue("Retry-After").orElse("")).matches("[1-9]");
        conversation.release();
        for (var stream : streams) {
            while (stream.next() != null) {
                // To its end.
            }
        }
        assertThat(server.post(tool(1000, "echo"), SESSION, session).statusCode())
                .isEqualTo(200);
    }

    @Test
    void closingEndsStreamsAndConversations() throws Exception {
        String session = server.initialize("one");
        var conversation = server.conversation();
        try (var events = server.listen(SESSION, session)) {
            server.face.close();
            assertThat(events.next()).isNull();
            assertThat(conversation.told).contains("closed");
        }
        assertThat(server.post(call("initialize", 1, "{}")).statusCode()).isEqualTo(503);
        assertThat(server.client).isInstanceOf(HttpClient.class);
    }
}
