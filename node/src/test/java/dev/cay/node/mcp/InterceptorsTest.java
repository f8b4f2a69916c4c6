package dev.cay.node.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.cay.http.Json;
import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// Calls that are looked at by real programs and servers of the operator's.
@Timeout(120)
@Fast
final class InterceptorsTest {
    @TempDir
    private Path directory = Path.of("unset");

    private SmallServer birds;
    private HttpServer web;
    private final List<JsonNode> posted = new CopyOnWriteArrayList<>();
    private volatile int status = 200;
    private volatile String said = "";
    private volatile Duration pause = Duration.ZERO;

    @BeforeEach
    void begin() throws Exception {
        birds = new SmallServer("sing", "nest\nbox", "slow", "broken");
        web = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        web.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        web.createContext("/", exchange -> {
            try (exchange) {
                posted.add(Json.mapper().readTree(exchange.getRequestBody().readAllBytes()));
                LockSupport.parkNanos(pause.toNanos());
                byte[] body = said.getBytes(StandardCharsets.UTF_8);
                exchange.getResponseHeaders().set("Location", "http://127.0.0.1:1/");
                exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
                exchange.getResponseBody().write(body);
            }
        });
        web.start();
    }

    @AfterEach
    void end() {
        birds.close();
        web.stop(0);
    }

    private String program(String name, String script) throws IOException {
        var file = Files.writeString(directory.resolve(name), "#!/bin/bash\n" + script);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
        return file.toString();
    }

    private String url() {
        return "http://127.0.0.1:%d/check?key=hunter2"
                .formatted(web.getAddress().getPort());
    }

    /// What comes of calls when these are in the configuration.
    private SmallGateways world(String... interceptors) throws IOException {
        var config = new StringBuilder("mcp:\n  interceptors:\n");
        for (String interceptor : interceptors) {
            config.append("    - {%s}\n".formatted(interceptor));
        }
        return new SmallGateways(
                directory,
                MetaChoice.ON,
                "servers:\n" + SmallGateways.entry("birds", birds.url()) + SmallGateways.entry("fish", birds.url()),
                config.toString());
    }

    private static SmallClient client(SmallGateways world) throws Exception {
        return new SmallClient(world.start("{\"birds\": {}, \"fish\": {}}", null));
    }

    @Test
    void seeAndChangeArgumentsAndResults() throws Exception {
        String before = program("before", """
                read -r line
                echo "$line" > "$(dirname "$0")/seen"
                echo '{"arguments": {"changed": 1}}'
                """);
        String after = program("after", """
                grep -o '"text":"[^"]*[^}]*}"' | sed 's/changed/seen/; s/^/{"result": {"content": [{"type": "text", /; s/$/}]}}/'
                """);
        try (var world = world(
                        "when: before, exec: [%s]".formatted(before), "when: after, exec: [%s]".formatted(after));
                var client = client(world)) {
            assertThat(SmallClient.text(client.call("birds-sing", "{\"a\": 1}")))
                    .isEqualTo("{\"seen\":1}");
            assertThat(birds.next("tools/call").path("params").path("arguments").toString())
                    .isEqualTo("{\"changed\":1}");
            assertThat(Files.readString(directory.resolve("seen"))).isEqualTo("""
                            {"when":"before","sandbox":"small","server":"birds","tool":"sing","arguments":{"a":1}}
                            """);
            // Through the gateway's own tool it is the same.
            assertThat(SmallClient.text(client.call("mcp-exec", "{\"name\": \"birds-sing\"}")))
                    .isEqualTo("{\"seen\":1}");
        }
    }

    @Test
    void areAskedByHttp() throws Exception {
        try (var world = world("when: after, http: '%s'".formatted(url()));
                var client = client(world)) {
            said = "{\"result\": {\"content\": [{\"type\": \"text\", \"text\": \"other\"}]}}";
            assertThat(SmallClient.text(client.call("birds-sing", "{\"a\": 1}")))
                    .isEqualTo("other");
            assertThat(posted.getFirst().toString())
                    .isEqualTo("{\"when\":\"after\",\"sandbox\":\"small\",\"server\":\"birds\",\"tool\":\"sing\","
                            + "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\":1}\"}]}}");
            said = "";
            status = 204;
            assertThat(SmallClient.text(client.call("birds-sing", "{\"a\": 2}")))
                    .isEqualTo("{\"a\":2}");
        }
    }

    @Test
    void denyWithAReason() throws Exception {
        String deny = program("deny", "echo '{\"deny\": \"not on Sundays\"}'");
        try (var world = world("when: before, exec: [%s]".formatted(deny));
                var client = client(world)) {
            var result = client.call("birds-sing", "{}");
            assertThat(SmallClient.text(result)).isEqualTo("not on Sundays");
            assertThat(result.path("isError").asBoolean()).isTrue();
            assertThat(birds.heard)
                    .noneMatch(message -> message.path("method").asString("").equals("tools/call"));
            assertThat(String.join("\n", world.log))
                    .contains("birds: call of sing stopped by an interceptor", "birds: call of sing failed");
        }
    }

    /// What an error says may be just what is not to be told.
    @Test
    void seeErrorsToo() throws Exception {
        String after = program("after", "grep -q hunter2 && echo '{\"deny\": \"it failed\"}'");
        try (var world = world("when: after, exec: [%s]".formatted(after));
                var client = client(world)) {
            var answer = client.answer("tools/call", SmallClient.calling("birds-broken", "{}"));
            assertThat(answer.toString()).doesNotContain("hunter2").contains("it failed");
        }
    }

    @Test
    void lookAtWhatTheyAreSaidToLookAt() throws Exception {
        String deny = program("deny", "echo '{\"deny\": \"no\"}'");
        try (var world = world("when: before, exec: [%s], servers: [birds], tools: ['si*', '*box']".formatted(deny));
                var client = client(world)) {
            assertThat(SmallClient.text(client.call("birds-sing", "{}"))).isEqualTo("no");
            // A name of two lines does not get past the star.
            assertThat(SmallClient.text(client.call("birds-nest_box", "{}"))).isEqualTo("no");
            assertThat(SmallClient.text(client.call("fish-sing", "{}"))).isEqualTo("{}");
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "exit 3 # ended with 3",
                "echo '{\"arguments\": {}}'; exit 1 # ended with 1",
                "echo yes # answered what is not JSON",
                "echo '{\"arguments\": {}' # answered what is not JSON",
                "echo '[]' # answered neither",
                "echo null # answered neither",
                "echo '{\"allow\": true}' # answered neither",
                "echo '{\"arguments\": [1]}' # answered neither",
                "echo '{\"arguments\": {}, \"more\": 1}' # answered neither",
                "echo '{\"result\": {}}' # answered neither",
                "echo '{\"deny\": 7}' # answered neither",
                "head -c 1100000 /dev/zero # answered more than 1048576 bytes",
                "yes # answered more than 1048576 bytes",
                "sleep 60 # took longer than 1000 ms",
                "kill -9 $$ # ended with 137"
            })
    void whatIsBrokenLetsNothingThrough(String script, String message) throws Exception {
        String broken = program("check.sh", "echo hunter2 >&2\n" + script);
        try (var world = world("when: before, exec: [%s, --key=hunter2], timeout: 1s".formatted(broken));
                var client = client(world)) {
            var result = client.call("birds-sing", "{}");
            assertThat(SmallClient.text(result))
                    .contains("mcp.interceptors[0] (check.sh) " + message)
                    .doesNotContain("hunter2");
            assertThat(result.path("isError").asBoolean()).isTrue();
            assertThat(birds.heard)
                    .noneMatch(asked -> asked.path("method").asString("").equals("tools/call"));
            assertThat(String.join("\n", world.log)).doesNotContain("hunter2");
        }
    }

    @Test
    void aProgramThatIsNotThereLetsNothingThrough() throws Exception {
        try (var world = world("when: before, exec: [/nowhere/check]");
                var client = client(world)) {
            assertThat(SmallClient.text(client.call("birds-sing", "{}"))).contains("(check) ended with 127");
        }
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(ints = {500, 302, 201, 404})
    void anAddressThatAnswersOtherwiseLetsNothingThrough(int answered) throws Exception {
        status = answered;
        said = "{}";
        try (var world = world("when: before, http: '%s'".formatted(url()));
                var client = client(world)) {
            assertThat(SmallClient.text(client.call("birds-sing", "{}")))
                    .contains("mcp.interceptors[0] (127.0.0.1) answered with status " + answered)
                    .doesNotContain("hunter2");
        }
    }

    @Test
    void anAddressThatIsSlowOrGoneOrSaysTooMuchLetsNothingThrough() throws Exception {
        try (var world = world("when: before, http: '%s', timeout: 1s".formatted(url()));
                var client = client(world)) {
            said = "{\"arguments\": {\"a\": \"%s\"}}".formatted("x".repeat(1 << 20));
            assertThat(SmallClient.text(client.call("birds-sing", "{}"))).contains("answered more than 1048576 bytes");
            said = "{}";
            pause = Duration.ofSeconds(5);
            assertThat(SmallClient.text(client.call("birds-sing", "{}"))).contains("took longer than 1000 ms");
            web.stop(0);
            assertThat(SmallClient.text(client.call("birds-sing", "{}"))).contains("is not reached");
        }
    }

    @Test
    void whatIsTooLargeToBeShownDoesNotPass() throws Exception {
        String fine = program("fine", "cat > /dev/null");
        try (var world = world("when: before, exec: [%s]".formatted(fine));
                var client = client(world)) {
            String half = "{\"a\": \"%s\"}".formatted("x".repeat(1 << 19));
            assertThat(SmallClient.text(client.call("birds-sing", half))).hasSizeGreaterThan(1 << 19);
            String large = "{\"a\": \"%s\"}".formatted("x".repeat(1 << 20));
            assertThat(SmallClient.text(client.call("birds-sing", large))).contains("no more than 1048576 bytes");
            assertThat(SmallClient.text(client.call("birds-sing", "[1]"))).contains("arguments must be an object");
        }
    }

    /// A program that echoes must not wait for us while we wait for it.
    @Test
    void aProgramMayAnswerBeforeItHasReadAll() throws Exception {
        String echo = program("echo", "sed -E 's/.*\"arguments\":(.*)\\}$/{\"arguments\": \\1}/'");
        try (var world = world("when: before, exec: [%s]".formatted(echo));
                var client = client(world)) {
            String half = "{\"a\":\"%s\"}".formatted("x".repeat(1 << 19));
            assertThat(SmallClient.text(client.call("birds-sing", half))).isEqualTo(half);
        }
    }

    /// An answer is complete with the end of the program that gives it.
    @Test
    void whatAProgramLeavesRunningEndsWithIt() throws Exception {
        String mark = "63." + System.nanoTime() % 1_000_000_000;
        String quick = program("quick", "(sleep %s &) ; echo '{\"arguments\": {\"a\": 1}}'\n".formatted(mark));
        try (var world = world("when: before, exec: [%s]".formatted(quick));
                var client = client(world)) {
            assertThat(SmallClient.text(client.call("birds-sing", "{}"))).isEqualTo("{\"a\":1}");
            awaitEnd(mark);
        }
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"sleep %s & wait", "(sleep %s &) ; sleep 60", "trap '' TERM; sleep %s"})
    void allThatAProgramStartedEndsAtTheLimit(String script) throws Exception {
        String mark = "61." + System.nanoTime() % 1_000_000_000;
        String slow = program("slow", script.formatted(mark) + "\n");
        try (var world = world("when: before, exec: [%s], timeout: 1s".formatted(slow));
                var client = client(world)) {
            assertThat(SmallClient.text(client.call("birds-sing", "{}"))).contains("took longer");
            awaitEnd(mark);
        }
    }

    @Test
    void aCallThatIsCalledOffEndsItsProgram() throws Exception {
        String mark = "62." + System.nanoTime() % 1_000_000_000;
        String slow = program("slow", "sleep %s & wait\n".formatted(mark));
        try (var world = world("when: before, exec: [%s], timeout: 60s".formatted(slow));
                var client = client(world)) {
            var call = client.ask("tools/call", SmallClient.calling("birds-sing", "{}"));
            Await.until("the program runs", () -> runs(mark));
            client.callOff(call);
            awaitEnd(mark);
        }
    }

    /// Its result would be fetched where nobody looks.
    @Test
    void aCallThatIsLookedAtAfterwardsIsNoTask() throws Exception {
        String fine = program("fine", "cat > /dev/null");
        try (var world = world("when: after, exec: [%s], servers: [birds]".formatted(fine));
                var client = client(world)) {
            for (String tool : List.of("birds-sing", "fish-sing")) {
                var params = SmallClient.calling(tool, "{}");
                params.putObject("task");
                client.answer("tools/call", params);
            }
            assertThat(birds.next("tools/call").path("params").has("task")).isFalse();
            assertThat(birds.next("tools/call").path("params").has("task")).isTrue();
        }
    }

    private static boolean runs(String argument) {
        return ProcessHandle.allProcesses()
                .anyMatch(process -> process.info().arguments().stream()
                        .anyMatch(arguments -> List.of(arguments).contains(argument)));
    }

    private static void awaitEnd(String argument) {
        Await.until("the program with the argument %s ends".formatted(argument), () -> !runs(argument));
    }
}
