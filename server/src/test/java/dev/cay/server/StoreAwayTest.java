package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/// What happens to sandboxes while nothing can be written, and what is made up for afterwards.
@Fast
final class StoreAwayTest extends ServerTest {
    @Test
    void callsThatWriteAreRefusedAndListsWork() {
        String id = create("\"timeout\":100");
        cay.store.away = true;
        var refused = cay.call("POST", "/sandboxes", "{\"templateID\":\"base\"}");
        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.header("Retry-After")).matches("[1-9]");
        assertThat(cay.call("DELETE", "/sandboxes/" + id).status()).isEqualTo(503);
        assertThat(cay.call("GET", "/v2/sandboxes").text()).contains(id);
        assertThat(cay.node.running).containsOnlyKeys(new SandboxId(id));
        cay.store.away = false;
        assertThat(cay.call("DELETE", "/sandboxes/" + id).status()).isEqualTo(204);
    }

    @Test
    void anEndThatCouldNotBeWrittenIsWrittenLater() {
        String id = create("\"timeout\":100");
        cay.store.away = true;
        cay.node.die(new SandboxId(id), "out of memory");
        assertThat(cay.call("GET", "/v2/sandboxes").text()).contains(id);
        cay.store.away = false;
        TestServer.await("its end on record", () -> story(id).contains("kill"));
        assertThat(lastEvent(id).get("eventData").get("kill_detail").stringValue())
                .isEqualTo("out of memory");
    }

    @Test
    void aSandboxWhoseTimeEndsMeanwhileIsEndedWhenTheStoreIsBack() throws Exception {
        String id = create("\"timeout\":10");
        cay.store.away = true;
        cay.clock.pass(Duration.ofSeconds(11));
        Thread.sleep(200);
        assertThat(cay.node.running).hasSize(1);
        cay.store.away = false;
        cay.clock.pass(Duration.ofSeconds(30));
        TestServer.await("its end", () -> cay.node.running.isEmpty());
        assertThat(story(id)).containsExactly("create", "kill");
    }

    /// The store goes away while the node starts the sandbox.
    @Test
    void aCreateThatFailedIsTakenBackBeforeItsKeyIsUsedAgain() {
        cay.node.onCreate = _ -> cay.store.away = true;
        assertThat(createWith("key-1").status()).isEqualTo(503);
        cay.node.onCreate = _ -> {};
        cay.store.away = false;
        assertThat(createWith("key-1").text()).contains("not taken back yet");
        TestServer.await("a second try", () -> createWith("key-1").status() == 201);
        assertThat(cay.node.running).hasSize(1);
        assertThat(cay.server.running()).isEqualTo(1);
    }

    private TestServer.Answer createWith(String key) {
        return cay.call("POST", "/sandboxes", "{\"templateID\":\"base\"}", "Idempotency-Key", key);
    }
}
