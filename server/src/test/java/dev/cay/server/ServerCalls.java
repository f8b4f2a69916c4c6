package dev.cay.server;

import dev.cay.testing.Await;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import tools.jackson.databind.JsonNode;

/// What tests ask of their server. Tests of one subject are an interface below this one, so that one class runs several
/// subjects in one process, and another runs the same on another engine of the store.
interface ServerCalls {
    /// The server of this test; another one after each restart.
    TestServer cay();

    /// Where the server has its files.
    Path directory();

    /// Begins the next run of the server on the same files and node.
    void restart() throws Exception;

    default JsonNode info(String id) {
        return cay().call("GET", "/sandboxes/" + id).json();
    }

    default JsonNode lastEvent(String id) {
        return events(id).get(0);
    }

    /// Newest first.
    default JsonNode events(String id) {
        return cay().call("GET", "/events/sandboxes/" + id).json();
    }

    /// What happened to a sandbox, in one word each, oldest first.
    default List<String> story(String id) {
        return cay().call("GET", "/events/sandboxes/" + id + "?orderAsc=true&limit=100").json().values().stream()
                .map(event -> event.get("eventLabel").stringValue())
                .toList();
    }

    default int pause(String id, String body) {
        return cay().call("POST", "/sandboxes/" + id + "/pause", body).status();
    }

    default int connect(String id, String body) {
        return cay().call("POST", "/v2/sandboxes/" + id + "/connect", body).status();
    }

    /// A sandbox with more fields than the simplest has.
    default String create(String fields) {
        return cay().create("{\"templateID\":\"base\"," + fields + "}")
                .get("sandboxID")
                .stringValue();
    }

    default String state(String id) {
        return info(id).get("state").stringValue();
    }

    /// The token that opens a sandbox.
    default String token(String sandbox) {
        return info(sandbox).get("envdAccessToken").stringValue();
    }

    /// Waits in a call of the fake node until the test lets it go on.
    default void hold(CountDownLatch reached, CountDownLatch go) {
        reached.countDown();
        Await.until("the test lets the node go on", go);
    }
}
