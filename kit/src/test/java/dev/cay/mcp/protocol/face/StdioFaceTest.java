package dev.cay.mcp.protocol.face;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.Conversation;
import dev.cay.mcp.protocol.Message;
import dev.cay.testing.Fast;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Fast
class StdioFaceTest {
    private final List<String> heard = new ArrayList<>();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    private String answersTo(String... lines) throws Exception {
        var in = new ByteArrayInputStream((String.join("\n", lines) + "\n").getBytes(UTF_8));
        new StdioFace(in, out).serve(new Listening());
        return out.toString(UTF_8);
    }

    @Test
    void tellsTheKindsOfMessagesApart() throws Exception {
        String answers = answersTo(
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ask\",\"params\":{\"a\":\"ü\"}}\r",
                "",
                "{\"jsonrpc\":\"2.0\",\"method\":\"tell\"}",
                "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}");
        assertThat(heard).containsExactly("request ask {\"a\":\"ü\"}", "notification tell", "response \"x\"", "closed");
        assertThat(answers).isEqualTo("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"ü\"}}\n");
    }

    /// And goes on with the next line.
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {                                              | -32700
            [1]                                            | -32600
            {"id": 1, "method": "a"}                       | -32600
            {"jsonrpc": "2.0", "id": null, "method": "a"}  | -32600
            {"jsonrpc": "2.0", "id": 1.5, "method": "a"}   | -32600
            {"jsonrpc": "2.0", "id": 1}                    | -32600
            {"jsonrpc": "2.0", "id": 1, "method": 7}       | -32600
            {"jsonrpc": "2.0", "result": {}}               | -32600
            {"jsonrpc": "2.0", "method": "a", "params": 1} | -32602
            """)
    void refusesWhatIsNoMessage(String line, int code) throws Exception {
        String answers = answersTo(line, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ask\",\"params\":{}}");
        var first = Json.mapper().readTree(answers.lines().findFirst().orElseThrow());
        assertThat(first.path("error").path("code").asInt()).isEqualTo(code);
        assertThat(heard).containsExactly("request ask {}", "closed");
    }

    private final class Listening implements Conversation {
        @Override
        public void request(Message request, Reply reply) {
            heard.add("request %s %s".formatted(request.method(), request.params()));
            reply.end(Message.result(request.id(), request.params()));
        }

        @Override
        public void notification(Message notification) {
            heard.add("notification " + notification.method());
        }

        @Override
        public void response(Message response) {
            heard.add("response " + response.id());
        }

        @Override
        public void close() {
            heard.add("closed");
        }
    }
}
