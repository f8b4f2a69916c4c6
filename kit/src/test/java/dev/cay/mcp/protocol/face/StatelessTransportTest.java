package dev.cay.mcp.protocol.face;

import static dev.cay.mcp.protocol.face.FaceServer.call;
import static dev.cay.mcp.protocol.face.FaceServer.code;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.stateless.Envelope;
import dev.cay.testing.Fast;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Timeout(120)
@Fast
class StatelessTransportTest {
    private FaceServer server;

    @BeforeEach
    void start() throws Exception {
        server = new FaceServer(HttpFace.Settings.usual());
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private static final String ABLE = "{\"elicitation\": {}, \"roots\": {}}";

    private static String body(String method, int id, String params, String capabilities) {
        var tree = (ObjectNode) ScriptedConversation.tree(call(method, id, params));
        var meta = tree.withObject("params").withObject("_meta");
        meta.put(Envelope.VERSION, "2026-07-28");
        meta.set(Envelope.CAPABILITIES, ScriptedConversation.tree(capabilities));
        return tree.toString();
    }

    private static String[] headers(String method, @Nullable String name, String... more) {
        var all = new ArrayList<>(List.of("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method));
        if (name != null) {
            all.addAll(List.of("Mcp-Name", name));
        }
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }

    private HttpResponse<String> ask(String method, int id, String params) throws Exception {
        return server.post(body(method, id, params, "{}"), headers(method, null));
    }

    private HttpResponse<String> tool(int id, String name, String more) throws Exception {
        return server.post(
                body("tools/call", id, "{\"name\": \"%s\"%s}".formatted(name, more), ABLE),
                headers("tools/call", name));
    }

    private static JsonNode result(HttpResponse<String> answer) {
        String json = answer.body().startsWith("{")
                ? answer.body()
                : answer.body()
                        .lines()
                        .filter(line -> line.startsWith("data: "))
                        .toList()
                        .getLast()
                        .substring(6);
        return Json.mapper().readTree(json).path("result");
    }

    @Test
    void tellsWhatItIs() throws Exception {
        var answer = ask("server/discover", 1, "{}");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Mcp-Session-Id")).isEmpty();
        var result = result(answer);
        assertThat(result.path("supportedVersions").toString()).isEqualTo("[\"2026-07-28\"]");
        assertThat(result.path("capabilities").has("tools")).isTrue();
        assertThat(result.path("capabilities").has("tasks")).isFalse();
        assertThat(result.path("instructions").asString()).isEqualTo("be kind");
        assertThat(result.path("cacheScope").asString()).isEqualTo("private");
        assertThat(result.path("_meta").path(Envelope.SERVER).path("name").asString())
                .isEqualTo("scripted");
    }

    @Test
    void resultsAreInTheNewWords() throws Exception {
        var list = result(ask("tools/list", 1, "{}"));
        assertThat(list.path("resultType").asString()).isEqualTo("complete");
        assertThat(list.path("ttlMs").isIntegralNumber()).isTrue();
        assertThat(list.path("cacheScope").asString()).isEqualTo("private");
        var echo = result(tool(2, "echo", ", \"arguments\": {\"a\": 1}"));
        assertThat(echo.path("resultType").asString()).isEqualTo("complete");
        assertThat(echo.has("ttlMs")).isFalse();
    }

    @Test
    void headersMustAgreeWithTheMessage() throws Exception {
        String list = body("tools/list", 1, "{}", "{}");
        assertThat(code(server.post(list))).isEqualTo(-32020);
        assertThat(code(server.post(list, "MCP-Protocol-Version", "2026-07-28")))
                .isEqualTo(-32020);
        assertThat(code(server.post(list, headers("tools/call", null)))).isEqualTo(-32020);
        assertThat(code(server.post(list, "MCP-Protocol-Version", "2025-11-25", "Mcp-Method", "tools/list")))
                .isEqualTo(-32020);
        var wrong = server.post(
                list.replace("2026-07-28", "2099-01-01"),
                "MCP-Protocol-Version",
                "2099-01-01",
                "Mcp-Method",
                "tools/list");
        assertThat(wrong.statusCode()).isEqualTo(400);
        assertThat(code(wrong)).isEqualTo(-32022);
        assertThat(wrong.body()).contains("\"supported\":[\"2026-07-28\"]");
        String bare = call("tools/list", 1, "{}");
        assertThat(code(server.post(bare, headers("tools/list", null)))).isEqualTo(-32602);
        assertThat(server.post(bare, headers("tools/list", null)).statusCode()).isEqualTo(400);

        String echo = body("tools/call", 1, "{\"name\": \"echo\"}", "{}");
        assertThat(code(server.post(echo, headers("tools/call", null)))).isEqualTo(-32020);
        assertThat(code(server.post(echo, headers("tools/call", "other")))).isEqualTo(-32020);
        assertThat(code(server.post(echo, headers("tools/call", "=?base64?!!!?="))))
                .isEqualTo(-32020);
        assertThat(code(server.post(echo, headers("tools/call", "=?base64?ZWNobw?="))))
                .as("without padding")
                .isEqualTo(-32020);
        String encoded = "=?base64?" + Base64.getEncoder().encodeToString("echo".getBytes()) + "?=";
        assertThat(server.post(echo, headers("tools/call", encoded)).statusCode())
                .isEqualTo(200);
    }

    @Test
    void argumentsThatAreMarkedMustBeInTheirHeaders() throws Exception {
        String regional = body(
                "tools/call", 1, "{\"name\": \"regional\", \"arguments\": {\"region\": \"eu\", \"size\": 4}}", "{}");
        assertThat(code(server.post(regional, headers("tools/call", "regional"))))
                .isEqualTo(-32020);
        assertThat(code(server.post(
                        regional, headers("tools/call", "regional", "Mcp-Param-Region", "us", "Mcp-Param-Size", "4"))))
                .isEqualTo(-32020);
        assertThat(server.post(
                                regional,
                                headers("tools/call", "regional", "Mcp-Param-Region", "eu", "Mcp-Param-Size", "4.0"))
                        .statusCode())
                .isEqualTo(200);
        assertThat(tool(2, "regional", "").statusCode()).isEqualTo(200);
    }

    @Test
    void whatDoesNotExistIs404AndThereAreNoSessions() throws Exception {
        for (String method : List.of("nothing", "ping", "initialize", "logging/setLevel", "resources/subscribe")) {
            var answer = ask(method, 1, "{}");
            assertThat(answer.statusCode()).as(method).isEqualTo(404);
            assertThat(code(answer)).isEqualTo(-32601);
        }
        for (String method : List.of("GET", "DELETE")) {
            var answer = server.send(method, "MCP-Protocol-Version", "2026-07-28");
            assertThat(answer.statusCode()).isEqualTo(405);
            assertThat(answer.headers().firstValue("Allow")).contains("POST");
        }
        assertThat(server.face.sessions()).isZero();
    }

    @Test
    void clientsThatCanDoTheSameShareAConversationUnlessTheOwnerDiffers() throws Exception {
        tool(1, "echo", "");
        tool(1, "echo", "");
        assertThat(server.opened).hasSize(1);
        var first = server.conversation();
        assertThat(first.heard.peek().params().path("capabilities").has("elicitation"))
                .isTrue();
        ask("tools/list", 1, "{}");
        assertThat(server.opened).hasSize(1);
        server.conversation();
        var body = body("tools/list", 1, "{}", "{}");
        var headers = new ArrayList<>(List.of(headers("tools/list", null)));
        headers.addAll(List.of("Authorization", "Bearer two"));
        server.post(body, headers.toArray(String[]::new));
        assertThat(server.conversation().owner).isEqualTo("two");
    }

    @Test
    void progressAndLogComeOnTheStreamOfTheCall() throws Exception {
        String with = "\"_meta\": {\"progressToken\": \"mine\", \"%s\": \"warning\"}".formatted(Envelope.LOG_LEVEL);
        var answer = tool(7, "steps", ", " + with);
        var events = answer.body()
                .lines()
                .filter(line -> line.startsWith("data: "))
                .map(line -> Json.mapper().readTree(line.substring(6)))
                .toList();
        assertThat(events).hasSize(5);
        assertThat(events.getFirst().path("params").path("progressToken").asString())
                .isEqualTo("mine");
        assertThat(events.get(3).path("params").path("level").asString()).isEqualTo("warning");
        assertThat(events.getLast().path("id").asInt()).isEqualTo(7);
        assertThat(answer.body()).doesNotContain("id: ");
        assertThat(tool(8, "steps", "").body()).doesNotContain("notifications");
    }

    @Test
    void closingTheStreamCancels() throws Exception {
        String with = ", \"_meta\": {\"%s\": \"debug\"}".formatted(Envelope.LOG_LEVEL);
        String body = body("tools/call", 1, "{\"name\": \"hold\"%s}".formatted(with), ABLE);
        var events = server.open(body, headers("tools/call", "hold"));
        assertThat(events.require().data()).contains("holding");
        var conversation = server.conversation();
        events.close();
        String told = conversation.told.poll(30, TimeUnit.SECONDS);
        while ("notifications/initialized".equals(told)) {
            told = conversation.told.poll(30, TimeUnit.SECONDS);
        }
        assertThat(told).isEqualTo("notifications/cancelled");
        var call = conversation.heard.stream()
                .filter(message -> message.method().equals("tools/call"))
                .findFirst()
                .orElseThrow();
        var cancelled = conversation.heard.stream()
                .filter(message -> message.method().equals("notifications/cancelled"))
                .findFirst()
                .orElseThrow();
        assertThat(cancelled.params().path("requestId")).isEqualTo(call.id());
    }

    @Test
    void aQuestionEndsTheRequestAndItsAnswerComesWithTheNext() throws Exception {
        var first = result(tool(1, "ask", ""));
        assertThat(first.path("resultType").asString()).isEqualTo("input_required");
        var question = first.path("inputRequests").path("q1");
        assertThat(question.path("method").asString()).isEqualTo("elicitation/create");
        assertThat(question.path("params").path("message").asString()).isEqualTo("number 1");
        String state = first.path("requestState").asString();
        String answers = ", \"requestState\": \"%s\", \"inputResponses\": {\"q1\": {\"action\": \"accept\"}, \"x\": {}}"
                .formatted(state);
        var stolen = new ArrayList<>(List.of(headers("tools/call", "ask")));
        stolen.addAll(List.of("Authorization", "Bearer two"));
        var other = server.post(
                body("tools/call", 2, "{\"name\": \"ask\"%s}".formatted(answers), ABLE), stolen.toArray(String[]::new));
        assertThat(code(other)).as("another owner").isEqualTo(-32602);
        assertThat(code(tool(2, "twice", answers))).as("another call").isEqualTo(-32602);

        var second = tool(2, "ask", answers);
        assertThat(Json.mapper().readTree(second.body()).path("id").asInt()).isEqualTo(2);
        assertThat(result(second).toString()).contains("accept").contains("complete");
        assertThat(code(tool(3, "ask", answers))).as("used already").isEqualTo(-32602);
    }

    @Test
    void aQuestionHasTheNameItsServerGivesIt() throws Exception {
        var first = result(tool(1, "named", ""));
        var question = first.path("inputRequests").path("user_name");
        assertThat(question.path("params").path("message").asString()).isEqualTo("number 1");
        assertThat(question.path("params").has("_meta")).isFalse();
    }

    @Test
    void anAnswerMayComeBeforeItsQuestion() throws Exception {
        String answers = ", \"inputResponses\": {\"user_name\": {\"action\": \"accept\"}, \"other\": {}}";
        assertThat(result(tool(1, "named", answers)).toString())
                .contains("accept")
                .contains("complete");
        var wrong = result(tool(2, "named", ", \"inputResponses\": {\"user_name\": 12345}"));
        assertThat(wrong.path("inputRequests").has("user_name")).isTrue();
    }

    @Test
    void severalQuestionsComeTogetherAndWhatIsNotAnsweredIsAskedAgain() throws Exception {
        var first = result(tool(1, "twice", ""));
        assertThat(first.path("inputRequests").size()).isEqualTo(2);
        String one = ", \"requestState\": \"%s\", \"inputResponses\": {\"q2\": {\"action\": \"decline\"}}"
                .formatted(first.path("requestState").asString());
        var second = result(tool(2, "twice", one));
        assertThat(second.path("inputRequests").has("q1")).isTrue();
        assertThat(second.path("inputRequests").size()).isEqualTo(1);
        String rest = ", \"requestState\": \"%s\", \"inputResponses\": {\"q1\": {\"action\": \"accept\"}}"
                .formatted(second.path("requestState").asString());
        assertThat(result(tool(3, "twice", rest)).path("resultType").asString()).isEqualTo("complete");
    }

    @Test
    void aClientIsNotAskedForWhatItCannotDo() throws Exception {
        var answer = server.post(body("tools/call", 1, "{\"name\": \"root\"}", "{}"), headers("tools/call", "root"));
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(code(answer)).isEqualTo(-32021);
        assertThat(answer.body()).contains("\"requiredCapabilities\":{\"roots\":{}}");
    }

    @Test
    void parkedCallsAreBounded() throws Exception {
        String first = result(tool(0, "ask", "")).path("requestState").asString();
        for (int i = 1; i <= 64; i++) {
            tool(i, "ask", "");
        }
        String answers =
                ", \"requestState\": \"%s\", \"inputResponses\": {\"q1\": {\"action\": \"accept\"}}".formatted(first);
        assertThat(code(tool(99, "ask", answers))).isEqualTo(-32602);
        var conversation = server.conversation();
        String told = conversation.told.poll(30, TimeUnit.SECONDS);
        while ("notifications/initialized".equals(told)) {
            told = conversation.told.poll(30, TimeUnit.SECONDS);
        }
        assertThat(told).isEqualTo("notifications/cancelled");
    }

    @Test
    void hearsOnlyOfChangesItAskedForAndThatCanBeTold() throws Exception {
        String wanted = "{\"notifications\": {\"toolsListChanged\": true, \"promptsListChanged\": true,"
                + " \"resourceSubscriptions\": [\"a:b\"]}}";
        var events = server.open(body("subscriptions/listen", 5, wanted, "{}"), headers("subscriptions/listen", null));
        var acknowledged = events.require().json();
        assertThat(acknowledged.path("method").asString()).isEqualTo("notifications/subscriptions/acknowledged");
        assertThat(acknowledged.path("params").path("notifications").toString())
                .isEqualTo("{\"toolsListChanged\":true,\"resourceSubscriptions\":[\"a:b\"]}");
        var conversation = server.conversation();
        assertThat(server.post(body("tools/list", 6, "{}", "{}"), headers("tools/list", null))
                        .statusCode())
                .isEqualTo(200);
        for (String kind : List.of("prompts/list_changed", "tools/list_changed")) {
            conversation.client.send(
                    Message.notification("notifications/" + kind, Json.mapper().createObjectNode()));
        }
        for (String uri : List.of("x:y", "a:b")) {
            conversation.client.send(Message.notification(
                    "notifications/resources/updated",
                    Json.mapper().createObjectNode().put("uri", uri)));
        }
        var changed = events.require().json();
        assertThat(changed.path("method").asString()).isEqualTo("notifications/tools/list_changed");
        assertThat(changed.path("params")
                        .path("_meta")
                        .path(Envelope.SUBSCRIPTION)
                        .asInt())
                .isEqualTo(5);
        assertThat(events.require().json().path("params").path("uri").asString())
                .isEqualTo("a:b");
        events.close();
        while (true) {
            var heard = conversation.heard.poll(30, TimeUnit.SECONDS);
            assertThat(heard).isNotNull();
            if (heard.method().equals("resources/unsubscribe")) {
                break;
            }
        }
    }

    @Test
    void whoeverCanBeToldNothingIsToldSo() throws Exception {
        String wanted = "{\"notifications\": {\"promptsListChanged\": true}}";
        try (var events =
                server.open(body("subscriptions/listen", 5, wanted, "{}"), headers("subscriptions/listen", null))) {
            assertThat(events.require().data()).contains("acknowledged");
            assertThat(events.require().json().path("id").asInt()).isEqualTo(5);
            assertThat(events.next()).isNull();
        }
    }
}
