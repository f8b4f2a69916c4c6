package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Saved;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What a start finds that came after a crash in the middle of a change: a second server on the same files and node
/// sees just what that would.
@Fast
final class PauseCrashTest extends ServerTest {
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);
    private @Nullable TestServer dead;

    @Test
    void beforeTheNodePaused() throws Exception {
        String id = create("\"timeout\":100");
        String end = info(id).get("endAt").stringValue();
        cay.node.onPause = _ -> hold(reached, go);
        crash(() -> pause(id, ""));
        assertThat(state(id)).isEqualTo("running");
        assertThat(info(id).get("endAt").stringValue()).isEqualTo(end);
        assertThat(story(id)).containsExactly("create");
        cay.node.onPause = _ -> {};
        assertThat(pause(id, "")).isEqualTo(204);
    }

    @Test
    void afterTheNodePaused() throws Exception {
        String id = cay.create();
        cay.node.onAnswer = () -> hold(reached, go);
        crash(() -> pause(id, "{\"memory\":false}"));
        assertThat(state(id)).isEqualTo("paused");
        assertThat(info(id).get("paused").get("memory").booleanValue()).isFalse();
        assertThat(story(id)).containsExactly("create", "pause");
        restart();
        assertThat(story(id)).containsExactly("create", "pause");
        cay.node.onAnswer = () -> {};
        assertThat(connect(id, "{}")).isEqualTo(201);
    }

    @Test
    void beforeTheNodeResumed() throws Exception {
        String id = cay.create();
        pause(id, "");
        String end = info(id).get("endAt").stringValue();
        cay.node.onResume = _ -> hold(reached, go);
        crash(() -> connect(id, "{}"));
        assertThat(state(id)).isEqualTo("paused");
        assertThat(info(id).get("endAt").stringValue()).isEqualTo(end);
        assertThat(story(id)).containsExactly("create", "pause");
        cay.node.onResume = _ -> {};
        assertThat(connect(id, "{}")).isEqualTo(201);
    }

    @Test
    void afterTheNodeResumed() throws Exception {
        String id = cay.create();
        pause(id, "");
        cay.node.onAnswer = () -> hold(reached, go);
        crash(() -> connect(id, "{\"timeout\":4000}"));
        assertThat(state(id)).isEqualTo("running");
        assertThat(story(id)).containsExactly("create", "pause", "resume");
        assertThat(info(id).get("endAt").stringValue())
                .as("nobody knows any more for how long")
                .isEqualTo("2026-09-21T10:05:00Z");
        restart();
        assertThat(story(id)).containsExactly("create", "pause", "resume");
    }

    @Test
    void inTheMiddleOfAWayBack() throws Exception {
        String id = cay.create();
        String snapshot = cay.call("POST", "/sandboxes/" + id + "/snapshots", "{}")
                .json()
                .get("snapshotID")
                .stringValue();
        cay.node.onRollback = _ -> hold(reached, go);
        crash(() -> cay.call("POST", "/sandboxes/" + id + "/rollback", "{\"snapshotID\":\"" + snapshot + "\"}"));
        assertThat(state(id)).isEqualTo("running");
        assertThat(cay.node.snapshots()).hasSize(1);
        cay.node.onRollback = _ -> {};
        assertThat(cay.call("POST", "/sandboxes/" + id + "/rollback", "{\"snapshotID\":\"" + snapshot + "\"}")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void theNodeKnowsBetterThanTheRecord() throws Exception {
        String paused = cay.create();
        String running = cay.create();
        String gone = cay.create();
        pause(running, "");
        pause(gone, "");
        cay.close();
        var id = new SandboxId(paused);
        cay.node.pausedSpecs.put(id, cay.node.running.remove(id));
        cay.node.paused.put(id, Saved.filesOnly("the machine was switched off"));
        cay.node.onAnswer = () -> {};
        cay.node.resume(new SandboxId(running), true);
        cay.node.kill(new SandboxId(gone));
        cay = TestServer.again(directory, cay);
        assertThat(state(paused)).isEqualTo("paused");
        assertThat(info(paused).get("paused").get("reason").stringValue()).isEqualTo("the machine was switched off");
        assertThat(story(paused)).containsExactly("create", "pause");
        assertThat(state(running)).isEqualTo("running");
        assertThat(story(running)).containsExactly("create", "pause", "resume");
        assertThat(cay.call("GET", "/sandboxes/" + gone).status()).isEqualTo(404);
        assertThat(lastEvent(gone).get("eventData").get("kill_reason").stringValue())
                .isEqualTo("orphaned");
    }

    @Test
    void aPausedSandboxNobodyClaimsIsEnded() throws Exception {
        cay.close();
        cay.node.addPaused(new SandboxId("istranger"));
        cay = TestServer.again(directory, cay);
        assertThat(cay.node.list()).isEmpty();
    }

    @Test
    void aChangeThatNobodyMakesAnyMoreIsMended() {
        String id = cay.create();
        cay.node.onFind = _ -> {
            throw new CayException(ErrorKind.UNAVAILABLE, "the node is away");
        };
        cay.node.onPause = _ -> {
            throw new CayException(ErrorKind.UNAVAILABLE, "the node is away");
        };
        assertThat(pause(id, "")).isEqualTo(503);
        assertThat(state(id)).as("not known").isEqualTo("paused");
        assertThat(connect(id, "{}")).isEqualTo(409);
        cay.node.onFind = _ -> {};
        TestServer.await("it to be looked after", () -> state(id).equals("running"));
        assertThat(story(id)).containsExactly("create");
        assertThat(connect(id, "{}")).isEqualTo(200);
    }

    /// The old server hangs in its call for good while the new one begins.
    private void crash(Runnable call) throws Exception {
        var died = cay;
        Thread.startVirtualThread(() -> {
            try {
                call.run();
            } catch (AssertionError e) {
                // its server is taken away
            }
        });
        assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
        dead = died;
        cay = TestServer.again(directory, died);
    }

    @AfterEach
    void bury() {
        go.countDown();
        if (dead != null) {
            dead.close();
        }
    }
}
