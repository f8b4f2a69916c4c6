package dev.cay.server;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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
        cay = begin();
    }

    TestServer begin() throws Exception {
        return TestServer.start(directory);
    }

    TestServer next(TestServer before) throws Exception {
        return TestServer.again(directory, before);
    }

    /// The next run of the server on the same files and node.
    final void restart() throws Exception {
        cay.close();
        cay = next(cay);
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

    final int pause(String id, String body) {
        return cay.call("POST", "/sandboxes/" + id + "/pause", body).status();
    }

    final int connect(String id, String body) {
        return cay.call("POST", "/v2/sandboxes/" + id + "/connect", body).status();
    }

    /// A sandbox with more fields than the simplest has.
    final String create(String fields) {
        return cay.create("{\"templateID\":\"base\"," + fields + "}")
                .get("sandboxID")
                .stringValue();
    }

    final String state(String id) {
        return info(id).get("state").stringValue();
    }

    /// Waits in a call of the fake node until the test lets it go on.
    static void hold(CountDownLatch reached, CountDownLatch go) {
        reached.countDown();
        try {
            if (!go.await(10, TimeUnit.SECONDS)) {
                throw new AssertionError("nobody let the node go on");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @AfterEach
    final void stop() {
        cay.close();
    }
}
