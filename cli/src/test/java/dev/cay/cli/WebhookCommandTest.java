package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.cay.cli.local.KeyFile;
import dev.cay.cli.local.RunFile;
import dev.cay.http.HttpListeners;
import dev.cay.life.SystemClock;
import dev.cay.life.Undo;
import dev.cay.metrics.Meters;
import dev.cay.server.CayServer;
import dev.cay.server.audit.AuditLog;
import dev.cay.server.build.BuildFloor;
import dev.cay.server.log.OtlpSettings;
import dev.cay.server.people.PersonAccess;
import dev.cay.server.quota.Limits;
import dev.cay.server.store.sqlite.SqliteStore;
import dev.cay.server.webhook.Webhooks;
import dev.cay.testing.Fast;
import dev.cay.wire.node.NodeAuthorizations;
import dev.cay.wire.node.NodeBuilds;
import dev.cay.wire.node.NodeDisk;
import dev.cay.wire.node.NodeTemplates;
import dev.cay.wire.node.Resources;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/// `cay webhook`, as a process, with a real server that has no sandboxes.
@Fast
final class WebhookCommandTest {
    private record Said(int code, String out, String errors) {}

    @TempDir
    private Path directory = Path.of("unset");

    private final Undo closing = new Undo();
    private HttpServer receiver;

    @BeforeEach
    void start() throws Exception {
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/", exchange -> {
            exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(exchange.getRequestURI().getPath().equals("/broken") ? 500 : 200, -1);
            exchange.close();
        });
        receiver.start();
        var listeners = closing.add(new HttpListeners());
        listeners.start();
        var server = closing.add(server());
        server.start();
        var address = listeners.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), server.frontDoor());
        String url = "http://127.0.0.1:" + address.getPort();
        Files.createDirectories(directory.resolve("run"));
        new RunFile(ProcessHandle.current().pid(), "v", "0", url, "d", "c", "b", "s").write(directory.resolve("run"));
        Path key = KeyFile.in(directory, "0");
        Files.createDirectories(key.getParent());
        Files.writeString(key, server.firstKey().orElseThrow());
        Files.writeString(
                directory.resolve("cay.yaml"), "stateDir: %s/state\nrunDir: %s/run\n".formatted(directory, directory));
    }

    private CayServer server() {
        var store = closing.add(SqliteStore.open(directory.resolve("cay.db")));
        return new CayServer(
                new CayServer.Settings(
                        directory.resolve("secret"),
                        directory.resolve("admin.token"),
                        "cay.test",
                        Duration.ofMinutes(5),
                        Duration.ofHours(1),
                        null,
                        Duration.ofMinutes(1),
                        directory.resolve("records"),
                        Duration.ofSeconds(5),
                        null,
                        Limits.NONE,
                        new BuildFloor.Settings(
                                new Resources(2, 1024, 1024), 1024, () -> 1024, 1, 1, List.of(), directory),
                        Webhooks.Settings.allowing(List.of("127.0.0.1")),
                        AuditLog.Settings.USUAL,
                        OtlpSettings.NONE,
                        new PersonAccess.Settings(URI.create("http://127.0.0.1"), null, List.of())),
                store,
                new Rehearsal.EmptyNode(),
                NodeTemplates.NONE,
                NodeBuilds.NONE,
                NodeDisk.NONE,
                NodeAuthorizations.NONE,
                (_, _) -> {},
                SystemClock.only(),
                new Meters());
    }

    @AfterEach
    void stop() {
        closing.close();
        receiver.stop(0);
    }

    private String url(String path) {
        return "http://127.0.0.1:%d%s".formatted(receiver.getAddress().getPort(), path);
    }

    @Test
    void aWebhookIsMadeShownTestedChangedAndDeleted() throws Exception {
        assertThat(cay("", "list").out()).isEqualTo("no webhooks\n");
        var made = cay("", "create", url("/ok"), "--name", "mine", "--events", "created,killed");
        assertThat(made.code()).as(made.errors()).isZero();
        assertThat(made.errors()).containsPattern("shown this once: [0-9a-f]{64}");
        String id = made.out().strip();
        assertThat(cay("", "list").out()).isEqualTo("%s on      mine  %s%n".formatted(id, url("/ok")));
        assertThat(cay("", "show", id).out())
                .contains("enabled        yes", "event          sandbox.lifecycle.killed")
                .doesNotContain("updated");
        assertThat(cay("", "test", id).out()).contains("it arrived; the receiver answered 200");

        var changed = cay("", "update", id, "--url", url("/broken"), "--disable", "-o", "json");
        assertThat(JsonMapper.shared().readTree(changed.out()).get("enabled").booleanValue())
                .isFalse();
        var broken = cay("", "test", id);
        assertThat(broken.code()).isEqualTo(1);
        assertThat(broken.out()).contains("it did not arrive: the receiver answered 500");
        assertThat(cay("", "deliveries", id).out()).isEqualTo("nothing was sent\n");
        assertThat(cay("", "redeliver", id, "--failed").errors()).contains("enable it first");
        assertThat(cay("", "delete", id).out()).isEqualTo(id + " is gone\n");
        assertThat(cay("", "show", id).errors()).contains("there is no webhook");
    }

    @Test
    void aSecretIsReadFromStandardInputAndWrongWordsAreExplained() throws Exception {
        var made = cay("geheim\n", "create", url("/ok"), "--secret-stdin");
        assertThat(made.code()).as(made.errors()).isZero();
        assertThat(made.out() + made.errors()).doesNotContain("geheim", "secret of its signatures");
        assertThat(cay("", "create", url("/ok"), "--events", "born").errors()).contains("--events has born", "created");
        assertThat(cay("", "create", "http://10.0.0.1/").errors()).contains("webhooks.allow");
        assertThat(cay("", "update", made.out().strip()).errors()).contains("say what to change");
        assertThat(cay("", "redeliver", made.out().strip()).errors()).contains("or --failed");
        assertThat(cay("", "show", "../sandboxes").errors()).contains("there is no webhook");
    }

    private Said cay(String input, String... words) throws Exception {
        var arguments = new String[words.length + 1];
        arguments[0] = "webhook";
        System.arraycopy(words, 0, arguments, 1, words.length);
        Path in = Files.writeString(directory.resolve("in"), input);
        Path out = directory.resolve("out");
        Path errors = directory.resolve("errors");
        var builder = new ProcessBuilder(MainProcess.command(directory, arguments))
                .redirectInput(in.toFile())
                .redirectOutput(out.toFile())
                .redirectError(errors.toFile());
        builder.environment().put("HOME", directory.toString());
        var process = builder.start();
        try {
            assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
            return new Said(process.exitValue(), Files.readString(out), Files.readString(errors));
        } finally {
            process.destroyForcibly();
        }
    }
}
