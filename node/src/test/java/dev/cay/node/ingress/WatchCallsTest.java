package dev.cay.node.ingress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import java.io.InputStream;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@NeedsRoot
class WatchCallsTest extends EnvdFilesTest {
    private String json(String more) {
        return "{\"path\":\"%s\"%s}".formatted(folder, more);
    }

    private static String event(String name, String type) {
        return "{\"filesystem\":{\"name\":\"%s\",\"type\":\"EVENT_TYPE_%s\"}}".formatted(name, type);
    }

    @Test
    void streamsChangesAfterTheStart() throws Exception {
        try (var events = envd.open("WatchDir", json(""))) {
            assertThat(TestEnvd.frame(events)).isEqualTo("{\"start\":{}}");
            assertThat(envd.upload(folder + "/a.txt", "data").statusCode()).isEqualTo(200);
            assertThat(TestEnvd.frame(events)).isEqualTo(event("a.txt", "CREATE"));
            assertThat(TestEnvd.frame(events)).isEqualTo(event("a.txt", "CHMOD"));
            assertThat(TestEnvd.frame(events)).isEqualTo(event("a.txt", "WRITE"));
            envd.call(
                    "Move",
                    "{\"source\":\"%s\",\"destination\":\"%s\"}".formatted(folder + "/a.txt", folder + "/b.txt"));
            assertThat(TestEnvd.frame(events)).isEqualTo(event("a.txt", "RENAME"));
            assertThat(TestEnvd.frame(events)).isEqualTo(event("b.txt", "CREATE"));
            Files.delete(folder.resolve("b.txt"));
            assertThat(TestEnvd.frame(events)).isEqualTo(event("b.txt", "REMOVE"));
        }
        awaitUse("0 bytes, 0 directories, 0 watches");
    }

    @Test
    void tellsWithTheEntryWhatIsThere() throws Exception {
        try (var events = envd.open("WatchDir", json(",\"recursive\":true,\"includeEntry\":true"))) {
            TestEnvd.frame(events);
            envd.call("MakeDir", "{\"path\":\"%s/n\"}".formatted(folder));
            assertThat(until(events, "CREATE"))
                    .contains("\"name\":\"n\"", "\"path\":\"%s/n\"".formatted(folder), "FILE_TYPE_DIRECTORY");
            envd.upload(folder + "/n/f", "12345");
            assertThat(until(events, "WRITE")).contains("\"name\":\"n/f\"", "\"size\":\"5\"");
            Files.delete(folder.resolve("n/f"));
            assertThat(until(events, "REMOVE")).doesNotContain("entry");
        }
    }

    private static String until(InputStream events, String kind) throws Exception {
        String frame = TestEnvd.frame(events);
        while (!frame.contains("EVENT_TYPE_" + kind)) {
            frame = TestEnvd.frame(events);
        }
        return frame;
    }

    @Test
    void keepsAliveAndEndsInTime() throws Exception {
        try (var events =
                envd.open("WatchDir", json(""), "Keepalive-Ping-Interval", "1", "Connect-Timeout-Ms", "1500")) {
            assertThat(TestEnvd.frame(events)).isEqualTo("{\"start\":{}}");
            assertThat(TestEnvd.frame(events)).isEqualTo("{\"keepalive\":{}}");
            assertThat(TestEnvd.frame(events)).contains("\"deadline_exceeded\"");
        }
    }

    @Test
    void saysWhyItCannotWatch() throws Exception {
        Files.createFile(folder.resolve("f"));
        for (String method : new String[] {"WatchDir", "CreateWatcher"}) {
            assertThat(answer(method, "{\"path\":\"%s/none\"}".formatted(folder)))
                    .contains("\"not_found\"", "path '%s/none' does not exist".formatted(folder));
            assertThat(answer(method, "{\"path\":\"%s/f\"}".formatted(folder)))
                    .contains("\"invalid_argument\"", "path is not a directory: %s/f".formatted(folder));
            assertThat(answer(method, "{\"path\":\"/proc\"}")).contains("\"invalid_argument\"");
        }
    }

    private String answer(String method, String json) throws Exception {
        if (!method.equals("WatchDir")) {
            return envd.call(method, json).body();
        }
        try (var events = envd.open(method, json)) {
            return TestEnvd.frame(events);
        }
    }

    /// The way of Python's clients that do not stream.
    @Test
    void keepsChangesForThoseWhoAsk() throws Exception {
        String made = envd.call("CreateWatcher", json(",\"recursive\":true")).body();
        assertThat(made).matches("\\{\"watcherId\":\"w[a-z0-9]{20}\"}");
        String id = made.replace("watcherId", "watcher_id");
        assertThat(envd.call("GetWatcherEvents", id).body()).isEqualTo("{}");
        envd.upload(folder + "/d/f", "x");
        String events = envd.call("GetWatcherEvents", id).body();
        assertThat(events)
                .startsWith("{\"events\":[{\"name\":\"d\",\"type\":\"EVENT_TYPE_CREATE\"}")
                .contains("{\"name\":\"d/f\",\"type\":\"EVENT_TYPE_CREATE\"}");
        assertThat(envd.call("GetWatcherEvents", id).body()).isEqualTo("{}");
        assertThat(envd.call("RemoveWatcher", id).body()).isEqualTo("{}");
        for (String method : new String[] {"GetWatcherEvents", "RemoveWatcher"}) {
            var gone = envd.call(method, id);
            assertThat(gone.statusCode()).isEqualTo(404);
            assertThat(gone.body()).contains("\"not_found\"");
        }
        awaitUse("0 bytes, 0 directories, 0 watches");
    }

    @Test
    void refusesMoreWatchersThanItCanKeep() throws Exception {
        for (int i = 0; i < 256; i++) {
            assertThat(envd.call("CreateWatcher", json("")).statusCode()).isEqualTo(200);
        }
        var refused = envd.call("CreateWatcher", json(""));
        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(refused.body()).contains("\"resource_exhausted\"", "256 watchers");
    }

    private void awaitUse(String expected) {
        Await.until(
                () -> "watches are %s, now %s"
                        .formatted(expected, envd.watches().use()),
                () -> envd.watches().use().equals(expected));
    }
}
