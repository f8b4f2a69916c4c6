package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.template.Origin;
import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.LogLine;
import dev.cay.wire.node.Node;
import dev.cay.wire.node.NodeSandbox;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.SandboxSpec;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/// `cay logs --sandbox`, as a process, with a real server.
@Fast
final class LogsOfSandboxTest {
    @TempDir
    private Path directory = Path.of("unset");

    private final List<Node.LogListener> listeners = new CopyOnWriteArrayList<>();
    private CommandServer cay;

    @BeforeEach
    void start() throws Exception {
        cay = new CommandServer(directory, node());
        cay.server
                .templates()
                .register("base", new Resources(2, 512, 1024), new Origin(List.of("0"), "user", null), null);
    }

    @AfterEach
    void stop() {
        cay.close();
    }

    @Test
    void theLogOfASandboxIsShownFilteredAndFollowedToItsEnd() throws Exception {
        String id = create();
        said(id, LogLine.Level.INFO, "Process started", "npm\u001b[2J install");
        said(id, LogLine.Level.WARN, "Process killed", "make");
        var all = cay.cay("logs", "--sandbox", id);
        assertThat(all.code()).as(all.errors()).isZero();
        assertThat(all.out()).contains("Sandbox created", "INFO  Process started", "command=npm?[2J install", "WARN ");
        assertThat(cay.cay("logs", "--sandbox", id, "--level", "warn", "--since", "1h")
                        .out())
                .hasLineCount(1)
                .contains("Process killed");
        assertThat(cay.cay("logs", "--sandbox", id, "--search", "npm", "--json").out())
                .hasLineCount(1)
                .startsWith("{\"timestamp\":");
        assertThat(cay.cay("logs", "--sandbox", id, "--level", "loud").errors()).contains("'level' must be one of");
        assertThat(cay.cay("logs", "--sandbox", "i00000000000000000000").code()).isEqualTo(1);
        assertThat(cay.cay("logs", "--search", "x").errors()).contains("are for --sandbox");
        for (String lines : List.of("-1", "1001")) {
            var refused = cay.cay("logs", "--sandbox", id, "-n", lines);
            assertThat(refused.code()).isEqualTo(1);
            assertThat(refused.errors()).contains("-n must be at least 0", "at most 1000, not " + lines);
        }

        Path out = directory.resolve("followed");
        Path errors = directory.resolve("followed.errors");
        var builder = cay.builder("logs", "--sandbox", id, "-f")
                .redirectOutput(out.toFile())
                .redirectError(errors.toFile());
        var following = builder.start();
        try {
            await(out, "Process killed");
            said(id, LogLine.Level.INFO, "File written", "a");
            await(out, "File written");
            assertThat(cay.cay("sandbox", "kill", id).code()).isZero();
            assertThat(following.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(following.exitValue()).isZero();
            assertThat(Files.readString(out))
                    .contains("Sandbox killed: request")
                    .containsOnlyOnce("File written");
            assertThat(Files.readString(errors)).contains("sandbox %s has ended".formatted(id));
        } finally {
            following.destroyForcibly();
        }
    }

    private String create() throws Exception {
        var request = HttpRequest.newBuilder(URI.create(cay.url + "/v2/sandboxes"))
                .header("X-API-Key", cay.key)
                .POST(HttpRequest.BodyPublishers.ofString("{\"templateID\":\"base\",\"timeout\":600}"))
                .build();
        try (var client = HttpClient.newHttpClient()) {
            var answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
            return JsonMapper.shared().readTree(answer.body()).get("sandboxID").stringValue();
        }
    }

    private void said(String id, LogLine.Level level, String message, String command) {
        listeners.forEach(listener -> listener.logged(
                new SandboxId(id), new LogLine(Instant.now(), level, "process", message, Map.of("command", command))));
    }

    /// A node that has sandboxes on paper only.
    private Node node() {
        var empty = new Rehearsal.EmptyNode();
        var made = new ConcurrentHashMap<SandboxId, NodeSandbox>();
        return (Node) Proxy.newProxyInstance(
                Node.class.getClassLoader(),
                new Class<?>[] {Node.class},
                (_, method, arguments) -> switch (method.getName()) {
                    case "reserve" -> SandboxId.random(new SecureRandom());
                    case "create" -> {
                        var spec = (SandboxSpec) arguments[0];
                        var sandbox = new NodeSandbox(spec.id(), spec.templateId(), Instant.now(), null);
                        made.put(spec.id(), sandbox);
                        yield sandbox;
                    }
                    case "onLog" -> listeners.add((Node.LogListener) arguments[0]);
                    default -> method.invoke(empty, arguments);
                });
    }

    private static void await(Path file, String text) {
        Await.until(
                () -> "the output has '%s'".formatted(text),
                () -> Files.readString(file).contains(text));
    }
}
