package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.cay.testing.Fast;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/// `cay webhook`, as a process, with a real server that has no sandboxes.
@Fast
final class WebhookCommandTest {
    @TempDir
    private Path directory = Path.of("unset");

    private CommandServer cay;
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
        cay = new CommandServer(directory, new Rehearsal.EmptyNode(), "127.0.0.1");
    }

    @AfterEach
    void stop() {
        cay.close();
        receiver.stop(0);
    }

    private String url(String path) {
        return "http://127.0.0.1:%d%s".formatted(receiver.getAddress().getPort(), path);
    }

    @Test
    void aWebhookIsMadeShownTestedChangedAndDeleted() throws Exception {
        assertThat(webhook("", "list").out()).isEqualTo("no webhooks\n");
        var made = webhook("", "create", url("/ok"), "--name", "mine", "--events", "created,killed");
        assertThat(made.code()).as(made.errors()).isZero();
        assertThat(made.errors()).containsPattern("shown this once: [0-9a-f]{64}");
        String id = made.out().strip();
        assertThat(webhook("", "list").out()).isEqualTo("%s on      mine  %s%n".formatted(id, url("/ok")));
        assertThat(webhook("", "show", id).out())
                .contains("enabled        yes", "event          sandbox.lifecycle.killed")
                .doesNotContain("updated");
        assertThat(webhook("", "test", id).out()).contains("it arrived; the receiver answered 200");

        var changed = webhook("", "update", id, "--url", url("/broken"), "--disable", "-o", "json");
        assertThat(JsonMapper.shared().readTree(changed.out()).get("enabled").booleanValue())
                .isFalse();
        var broken = webhook("", "test", id);
        assertThat(broken.code()).isEqualTo(1);
        assertThat(broken.out()).contains("it did not arrive: the receiver answered 500");
        assertThat(webhook("", "deliveries", id).out()).isEqualTo("nothing was sent\n");
        assertThat(webhook("", "redeliver", id, "--failed").errors()).contains("enable it first");
        assertThat(webhook("", "delete", id).out()).isEqualTo(id + " is gone\n");
        assertThat(webhook("", "show", id).errors()).contains("there is no webhook");
    }

    @Test
    void aSecretIsReadFromStandardInputAndWrongWordsAreExplained() throws Exception {
        var made = webhook("geheim\n", "create", url("/ok"), "--secret-stdin");
        assertThat(made.code()).as(made.errors()).isZero();
        assertThat(made.out() + made.errors()).doesNotContain("geheim", "secret of its signatures");
        assertThat(webhook("", "create", url("/ok"), "--events", "born").errors())
                .contains("--events has born", "created");
        assertThat(webhook("", "create", "http://10.0.0.1/").errors()).contains("webhooks.allow");
        assertThat(webhook("", "update", made.out().strip()).errors()).contains("say what to change");
        assertThat(webhook("", "redeliver", made.out().strip()).errors()).contains("or --failed");
        assertThat(webhook("", "show", "../sandboxes").errors()).contains("there is no webhook");
    }

    private CommandServer.Said webhook(String input, String... words) throws Exception {
        var arguments = new ArrayList<>(List.of("webhook"));
        arguments.addAll(List.of(words));
        return cay.cayWith(input, arguments.toArray(String[]::new));
    }
}
