package dev.cay.node.mcp.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The transport of 2024-11-05 against a server that does what the test says.
@Timeout(60)
@Fast
final class SseLinkTest {
    private static ScriptedServer server(String endpoint, AtomicReference<ScriptedServer.Answering> stream)
            throws IOException {
        return new ScriptedServer((asked, out) -> {
            if (asked.method().equals("GET")) {
                // The client may post as soon as it reads the endpoint.
                stream.set(out);
                out.stream();
                out.raw(": hello\n\nevent: endpoint\ndata: " + endpoint + "\n\n");
            } else if (asked.is("refused")) {
                out.whole("500 Oh", "", "");
            } else {
                out.whole("202 Accepted", "", "Accepted");
                stream.get().event("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}".formatted(asked.id()));
            }
        });
    }

    @Test
    void sendsWhereItIsToldAndHearsOnTheStream() throws Exception {
        var stream = new AtomicReference<ScriptedServer.Answering>();
        try (var server = server("/messages?session=1", stream);
                var talk = Talk.sse(server.url("/sse"))) {
            talk.connect().ask(1, "initialize");
            assertThat(talk.next()).contains("\"id\":1", "result");
            assertThat(talk.ask(2, "refused").error(2)).isEqualTo("wiki answered HTTP 500");
            assertThat(server.asked()).extracting(ScriptedServer.Asked::target).contains("/messages?session=1");
            assertThat(server.asked())
                    .allSatisfy(
                            asked -> assertThat(asked.header("Authorization")).isEqualTo(Talk.SECRET));
            stream.get().end();
            assertThat(talk.next()).isEqualTo("over: wiki has ended the connection");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "http://127.0.0.1:1/messages, to another server",
        "https://127.0.0.1/messages, to another server",
        "//evil.example/messages, to another server",
        "file:///etc/passwd, to another server",
        "http://[bad, an address that is none"
    })
    void sendsToNobodyElse(String endpoint, String complaint) throws Exception {
        try (var server = server(endpoint, new AtomicReference<>());
                var talk = Talk.sse(server.url("/sse"))) {
            assertThatThrownBy(talk::connect)
                    .hasMessageStartingWith("wiki cannot be reached: it wants messages to be sent")
                    .hasMessageContaining(complaint);
        }
    }

    @Test
    void waitsForAnAddressOnlySoLong() throws Exception {
        try (var server = new ScriptedServer((_, out) -> out.stream());
                var talk = Talk.sse(server.url("/sse"))) {
            assertThatThrownBy(talk::connect).hasMessageStartingWith("wiki cannot be reached");
        }
    }

    @Test
    void namesTheStatus() throws Exception {
        try (var server = new ScriptedServer((_, out) -> out.whole("401 No", "", ""));
                var talk = Talk.sse(server.url("/sse"))) {
            assertThatThrownBy(talk::connect).hasMessage("wiki cannot be reached: it answered HTTP 401");
        }
    }
}
