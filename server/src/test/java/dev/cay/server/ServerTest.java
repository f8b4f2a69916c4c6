package dev.cay.server;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// A test with a server of its own.
abstract class ServerTest {
    @TempDir
    Path directory;

    TestServer cay;

    @BeforeEach
    final void start() throws Exception {
        cay = TestServer.start(directory);
    }

    /// The next run of the server on the same files and node.
    final void restart() throws Exception {
        cay.close();
        cay = TestServer.again(directory, cay);
    }

    final JsonNode info(String id) {
        return cay.call("GET", "/sandboxes/" + id).json();
    }

    final JsonNode lastEvent(String id) {
        return events(id).get(0);
    }

    /// Newest first.
    final JsonNode events(String id) {
        return cay.call("GET", "/events/sandboxes/" + id).json();
    }

    /// What happened to a sandbox, in one word each, oldest first.
    final List<String> story(String id) {
        return cay.call("GET", "/events/sandboxes/" + id + "?orderAsc=true&limit=100").json().values().stream()
                .map(event -> event.get("eventLabel").stringValue())
                .toList();
    }

    @AfterEach
    final void stop() {
        cay.close();
    }
}
