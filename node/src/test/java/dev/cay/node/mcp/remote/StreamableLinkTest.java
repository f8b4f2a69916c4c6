package dev.cay.node.mcp.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Streamable HTTP against a server that does what the test says.
@Timeout(60)
@Fast
final class StreamableLinkTest {
    private static final String GREETING =
            "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{}}}";
    private static final String NOTE =
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"n\":%d}}";

    /// Does what every server does at the beginning, and leaves the rest to the test.
    private static ScriptedServer server(ScriptedServer.Script rest) throws IOException {
        return new ScriptedServer((asked, out) -> {
            if (asked.is("initialize")) {
                out.whole("200 OK", "Content-Type: application/json\r\nMcp-Session-Id: abc\r\n", GREETING);
            } else if (asked.is("notifications/initialized")) {
                out.accepted();
            } else {
                rest.answer(asked, out);
            }
        });
    }

    private static String result(ScriptedServer.Asked asked) {
        return "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"ok\":true}}".formatted(asked.id());
    }

    private static void noStream(ScriptedServer.Answering out) throws IOException {
        out.whole("405 Method Not Allowed", "", "");
    }

    @Test
    void holdsASessionFromItsBeginningToItsEnd() throws Exception {
        var deleted = new CountDownLatch(1);
        var script = (ScriptedServer.Script) (asked, out) -> {
            switch (asked.method()) {
                case "GET" -> {
                    out.stream();
                    out.event(NOTE.formatted(1));
                }
                case "DELETE" -> {
                    out.whole("200 OK", "", "");
                    deleted.countDown();
                }
                default -> out.json(result(asked));
            }
        };
        try (var server = server(script);
                var talk = Talk.streamable(server.url("/mcp?x=1"))) {
            talk.begin();
            assertThat(talk.next()).isEqualTo(NOTE.formatted(1));
            talk.ask(1, "tools/list");
            assertThat(talk.next()).contains("\"id\":1", "\"ok\":true");
            talk.hangUp();
            assertThat(deleted.await(1, TimeUnit.MINUTES)).isTrue();
            assertThat(server.asked()).allSatisfy(asked -> {
                assertThat(asked.target()).isEqualTo("/mcp?x=1");
                assertThat(asked.header("Authorization")).isEqualTo(Talk.SECRET);
            });
            var first = server.asked().getFirst();
            assertThat(first.header("Accept")).contains("application/json", "text/event-stream");
            assertThat(first.header("Mcp-Session-Id")).isEmpty();
            assertThat(first.header("MCP-Protocol-Version")).isEmpty();
            assertThat(server.asked().subList(1, server.asked().size())).allSatisfy(asked -> {
                assertThat(asked.header("Mcp-Session-Id")).isEqualTo("abc");
                assertThat(asked.header("MCP-Protocol-Version")).isEqualTo("2025-06-18");
            });
            assertThat(talk.heard().nothingMore()).isTrue();
        }
    }

    @Test
    void usesAConnectionAgainAndNoticesOneThatWasClosed() throws Exception {
        var script = (ScriptedServer.Script) (asked, out) -> {
            if (asked.method().equals("GET")) {
                noStream(out);
                return;
            }
            out.json(result(asked));
            if (asked.id().equals("2")) {
                out.end();
            }
        };
        try (var server = server(script);
                var talk = Talk.streamable(server.url("/"))) {
            talk.begin();
            for (int id = 1; id < 6; id++) {
                talk.ask(id, "tools/list");
                assertThat(talk.next()).contains("\"id\":" + id, "ok");
            }
            // For eight requests: one may be made a moment before the connection of the last is free again.
            assertThat(server.connections()).isBetween(2, 6);
        }
    }

    @Test
    void hearsWhatComesBeforeAnAnswer() throws Exception {
        var script = (ScriptedServer.Script) (asked, out) -> {
            if (asked.method().equals("GET")) {
                noStream(out);
                return;
            }
            out.stream();
            out.event(NOTE.formatted(1));
            out.event("this is no JSON");
            out.event("[" + NOTE.formatted(2) + "," + result(asked) + "]");
            out.end();
        };
        try (var server = server(script);
                var talk = Talk.streamable(server.url("/"))) {
            talk.begin().ask(1, "tools/call");
            assertThat(talk.next()).isEqualTo(NOTE.formatted(1));
            assertThat(talk.next()).isEqualTo(NOTE.formatted(2));
            assertThat(talk.next()).contains("\"id\":1", "ok");
        }
    }

    @Test
    void goesOnWhereAStreamBroke() throws Exception {
        var call = new AtomicReference<ScriptedServer.Asked>();
        var script = (ScriptedServer.Script) (asked, out) -> {
            String after = asked.header("Last-Event-ID");
            if (asked.method().equals("POST")) {
                call.set(asked);
                out.stream();
                out.raw("id: a\nretry: 10\ndata:\n\nid: b\ndata: " + NOTE.formatted(1) + "\n\n");
                out.end();
            } else if (after.equals("b")) {
                out.stream();
                out.raw("id: c\ndata: " + NOTE.formatted(2) + "\n\ndata: {\"half");
                out.end();
            } else if (after.equals("c")) {
                out.stream();
                out.event(result(call.get()));
                out.end();
            } else {
                noStream(out);
            }
        };
        try (var server = server(script);
                var talk = Talk.streamable(server.url("/"))) {
            talk.begin().ask(1, "tools/call");
            assertThat(talk.next()).isEqualTo(NOTE.formatted(1));
            assertThat(talk.next()).isEqualTo("let go: 1");
            assertThat(talk.next()).isEqualTo(NOTE.formatted(2));
            assertThat(talk.next()).isEqualTo("let go: 1");
            assertThat(talk.next()).contains("\"id\":1", "ok");
        }
    }

    @Test
    void triesNoMoreThanAFewTimes() throws Exception {
        var tries = new AtomicInteger();
        var script = (ScriptedServer.Script) (asked, out) -> {
            if (!asked.header("Last-Event-ID").isEmpty()) {
                tries.incrementAndGet();
            } else if (asked.method().equals("GET")) {
                noStream(out);
                return;
            }
            out.stream();
            out.raw("id: a\nretry: 1\ndata:\n\n");
            out.end();
        };
        try (var server = server(script);
                var talk = Talk.streamable(server.url("/"))) {
            talk.begin().ask(1, "tools/call");
            assertThat(talk.error(1)).isEqualTo("wiki broke off before its answer");
            assertThat(tries).hasValue(5);
        }
    }

    @Test
    void aRequestThatFailsFailsAlone() throws Exception {
        var script = (ScriptedServer.Script) (asked, out) -> {
            switch (asked.method().equals("GET") ? "GET" : asked.id()) {
                case "1" -> {
                    out.stream();
                    out.end();
                }
                case "2" -> out.whole("500 Oh", "Content-Type: text/html\r\n", "<b>");
                case "3" -> out.raw("I do not speak HTTP\r\n\r\n");
                case "4" -> out.json("{\"jsonrpc\"");
                case "5" -> out.whole("200 OK", "Content-Type: text/html\r\n", "<b>");
                case "6" -> out.whole("200 OK", "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", "x");
                case "7" ->
                    out.whole(
                            "400 Bad",
                            "Content-Type: application/json\r\n",
                            "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602,\"message\":\"no such\"}}");
                case "8" -> out.accepted();
                case "9" -> {
                    out.raw(
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\nzz\r\n");
                    out.end();
                }
                case "10" -> out.raw("HTTP/1.1 200 OK\r\nX: " + "x".repeat(100_000));
                case "GET" -> noStream(out);
                default -> out.json(result(asked));
            }
        };
        try (var server = server(script);
                var talk = Talk.streamable(server.url("/"))) {
            talk.begin();
            assertThat(talk.ask(1, "a").error(1)).isEqualTo("wiki broke off before its answer");
            assertThat(talk.ask(2, "a").error(2)).isEqualTo("wiki answered HTTP 500");
            assertThat(talk.ask(3, "a").error(3)).isEqualTo("wiki cannot be reached: the server does not speak HTTP");
            assertThat(talk.ask(4, "a").error(4)).isEqualTo("wiki answered with something that is no answer");
            assertThat(talk.ask(5, "a").error(5)).isEqualTo("wiki does not answer in the way of MCP");
            assertThat(talk.ask(6, "a").error(6)).contains("a coding that was not asked for");
            assertThat(talk.ask(7, "a").error(7)).isEqualTo("no such");
            assertThat(talk.ask(8, "a").error(8)).isEqualTo("wiki does not answer in the way of MCP");
            assertThat(talk.ask(9, "a").error(9)).contains("does not speak HTTP");
            assertThat(talk.ask(10, "a").error(10)).contains("headers without an end");
            assertThat(talk.ask(11, "a").next()).contains("\"id\":11", "ok");
        }
    }

    @Test
    void saysThatTheSessionIsOver() throws Exception {
        var script = (ScriptedServer.Script) (asked, out) -> {
            if (asked.method().equals("GET")) {
                noStream(out);
            } else {
                out.whole("404 Not Found", "", "");
            }
        };
        try (var server = server(script);
                var talk = Talk.streamable(server.url("/"))) {
            talk.begin().ask(1, "tools/list");
            assertThat(talk.next()).isEqualTo("over: wiki has ended the session (HTTP 404)");
            assertThatThrownBy(() -> talk.ask(2, "tools/list"))
                    .isInstanceOf(CayException.class)
                    .hasMessageContaining("ended the session");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 401, 403, 404, 405, 406, 500, 200})
    void aServerNeedNotHaveAStreamOfItsOwn(int status) throws Exception {
        var looked = new CountDownLatch(1);
        var script = (ScriptedServer.Script) (asked, out) -> {
            if (asked.method().equals("GET")) {
                out.whole(status + " No", "", "");
                looked.countDown();
            } else {
                out.json(result(asked));
            }
        };
        try (var server = server(script);
                var talk = Talk.streamable(server.url("/"))) {
            talk.begin();
            assertThat(looked.await(1, TimeUnit.MINUTES)).isTrue();
            assertThat(talk.ask(1, "tools/list").next()).contains("\"id\":1", "ok");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 403})
    void namesTheStatusButNoCredential(int status) throws Exception {
        try (var server = new ScriptedServer((_, out) -> out.whole(status + " No", "", Talk.SECRET));
                var talk = Talk.streamable(server.url("/"))) {
            talk.connect().ask(0, "initialize");
            assertThat(talk.next())
                    .isEqualTo("over: wiki answered HTTP %d; look at the credentials given for it".formatted(status));
        }
    }

    @Test
    void waitsForTheFirstAnswerOnlySoLong() throws Exception {
        try (var server = new ScriptedServer((_, _) -> {});
                var talk = Talk.streamable(server.url("/"))) {
            talk.connect().ask(0, "initialize");
            assertThat(talk.next()).isEqualTo("over: wiki cannot be reached: it does not answer in time");
        }
    }

    @Test
    void aDrippingAnswerIsNoAnswer() throws Exception {
        var script = (ScriptedServer.Script) (_, out) -> {
            for (int i = 0; ; i++) {
                out.raw(i == 0 ? "HTTP/1.1 200 OK\r\n" : "X-%d: y\r\n".formatted(i));
                LockSupport.parkNanos(50_000_000);
            }
        };
        try (var server = new ScriptedServer(script);
                var talk = Talk.streamable(server.url("/"))) {
            talk.connect().ask(0, "initialize");
            assertThat(talk.next()).isEqualTo("over: wiki cannot be reached: it does not answer in time");
        }
    }

    @Test
    void boundsWhatIsUnderWay() throws Exception {
        try (var server = server((_, _) -> {});
                var talk = Talk.streamable(server.url("/"))) {
            talk.begin();
            for (int id = 1; id <= 32; id++) {
                talk.ask(id, "tools/call");
            }
            assertThatThrownBy(() -> talk.ask(33, "tools/call")).hasMessageContaining("wiki has 32 requests");
        }
    }

    @Test
    void refusesAMessageThatIsTooLong() throws Exception {
        var script = (ScriptedServer.Script) (asked, out) -> {
            if (asked.method().equals("GET")) {
                noStream(out);
                return;
            }
            out.raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n");
            while (true) {
                out.raw(" ".repeat(1 << 16));
            }
        };
        try (var server = server(script);
                var talk = Talk.streamable(server.url("/"))) {
            talk.begin().ask(1, "tools/call");
            assertThat(talk.error(1)).contains("32 MiB");
        }
    }

    @Test
    void aFloodIsHeardInOrderAndAtOurPace() throws Exception {
        int many = 20_000;
        var script = (ScriptedServer.Script) (asked, out) -> {
            if (asked.method().equals("GET")) {
                noStream(out);
                return;
            }
            out.stream();
            for (int i = 0; i < many; i++) {
                out.event(NOTE.formatted(i));
            }
            out.event(result(asked));
            out.end();
        };
        try (var server = server(script);
                var talk = Talk.streamable(server.url("/"))) {
            talk.begin().ask(1, "tools/call");
            for (int i = 0; i < many; i++) {
                assertThat(talk.next()).isEqualTo(NOTE.formatted(i));
            }
            assertThat(talk.next()).contains("\"id\":1");
        }
    }

    @Test
    void saysWhyItCannotBeReached() throws Exception {
        int free;
        try (var server = new ScriptedServer((_, _) -> {})) {
            free = server.port();
        }
        try (var talk = Talk.streamable(URI.create("http://127.0.0.1:" + free))) {
            assertThatThrownBy(talk::connect).hasMessage("wiki cannot be reached: it takes no connections");
        }
    }
}
