package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// What `cay template gc` prints of what the daemon says.
@Fast
final class TemplateGcCommandTest {
    private static final String RUNNING = """
            {"status": "running", "count": 1, "bytes": 2097152,
             "removed": [{"what": "layer", "name": "step-1", "bytes": 2097152}]}""";
    private static final String DONE = """
            {"status": "done", "count": 2, "bytes": 3145728,
             "removed": [{"what": "locks of layers", "name": "7", "bytes": 1048576}]}""";

    private final Queue<String> answers = new ArrayDeque<>();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private HttpServer daemon;

    @BeforeEach
    void start() throws IOException {
        daemon = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        daemon.createContext("/", exchange -> {
            byte[] body = answers.remove().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            try (var response = exchange.getResponseBody()) {
                response.write(body);
            }
        });
        daemon.start();
    }

    @AfterEach
    void stop() {
        daemon.stop(0);
    }

    @Test
    void printsEachThingAndTheSum() throws Exception {
        assertThat(printed(false, begun(true), RUNNING, DONE)).isEqualTo("""
                would remove      2 MB  layer  step-1
                would remove      1 MB  locks of layers  7
                in all 3 MB; nothing was changed
                """);
        assertThat(printed(false, begun(false), DONE)).isEqualTo("""
                removed      1 MB  locks of layers  7
                3 MB are free again
                """);
    }

    @Test
    void printsOneObjectForMachines() throws Exception {
        assertThat(printed(true, begun(true), RUNNING, DONE).lines())
                .singleElement()
                .asString()
                .contains("\"bytes\":3145728", "\"dryRun\":true", "step-1");
    }

    @Test
    void saysWhenThereIsNothingToRemove() throws Exception {
        assertThat(printed(false, begun(false), "{\"status\": \"done\", \"removed\": []}"))
                .contains("nothing to remove", "the last 30 days");
    }

    @Test
    void saysWhyItFailed() {
        assertThatThrownBy(() -> printed(false, begun(false), "{\"status\": \"error\", \"reason\": \"disk away\"}"))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("disk away");
    }

    @Test
    void readsTimes() {
        assertThat(List.of("0", "90", "12h", "30d"))
                .extracting(TemplateGcCommand::seconds)
                .containsExactly(0L, 90L, 43_200L, 2_592_000L);
        assertThatThrownBy(() -> TemplateGcCommand.seconds("-1d")).hasMessageContaining("--older-than must be a time");
    }

    private static String begun(boolean dryRun) {
        return "{\"collectionID\": \"one\", \"dryRun\": %s, \"olderThanSeconds\": 2592000}".formatted(dryRun);
    }

    private String printed(boolean json, String... said) throws Exception {
        answers.addAll(List.of(said));
        out.reset();
        var api = new Api(URI.create("http://127.0.0.1:" + daemon.getAddress().getPort()), "key");
        var print = new PrintStream(out, true, StandardCharsets.UTF_8);
        assertThat(new TemplateGcCommand.Collecting(api, print, System.err, json).run(Map.of()))
                .isZero();
        return out.toString(StandardCharsets.UTF_8);
    }
}
