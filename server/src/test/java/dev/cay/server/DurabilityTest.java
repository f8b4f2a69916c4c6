package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Durability;
import dev.cay.wire.node.Saved;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A pause is answered when the sandbox is frozen; clients see when it is saved.
@Fast
final class DurabilityTest extends ServerTest {
    @BeforeEach
    void saveLater() {
        cay.node.savesLater = true;
    }

    private String durability(String id) {
        return info(id).get("paused").get("durability").toString();
    }

    private String listed(String id) {
        for (var one : cay.call("GET", "/v2/sandboxes?state=paused,running").json()) {
            if (one.get("sandboxID").stringValue().equals(id)) {
                return one.path("durability").asString("none");
            }
        }
        return "not listed";
    }

    private void awaitDurability(String id, String wanted) {
        Await.until(
                () -> "durability %s, now %s".formatted(wanted, durability(id)),
                () -> durability(id).equals(wanted));
    }

    @Test
    void isShownFromThePauseToTheResume() throws Exception {
        String id = cay.create();
        assertThat(listed(id)).isEqualTo("none");
        assertThat(pause(id, "")).isEqualTo(204);
        assertThat(cay.node.acks).containsEntry(new SandboxId(id), Durability.FROZEN);
        assertThat(durability(id)).isEqualTo("{\"state\":\"frozen\"}");
        assertThat(listed(id)).isEqualTo("frozen");
        assertThat(lastEvent(id).get("eventData").get("durability").stringValue())
                .isEqualTo("frozen");

        cay.node.becomesSaved(new SandboxId(id), Saved.notYet("the disk is full"));
        awaitDurability(id, "{\"state\":\"frozen\",\"reason\":\"the disk is full\"}");
        assertThat(lastEvent(id).get("eventData").get("not_saved").stringValue())
                .isEqualTo("the disk is full");

        cay.node.becomesSaved(new SandboxId(id), Saved.WHOLE);
        awaitDurability(id, "{\"state\":\"saved\"}");
        assertThat(listed(id)).isEqualTo("saved");
        assertThat(story(id)).containsExactly("create", "pause", "update", "update");
        assertThat(lastEvent(id).get("eventData").get("durability").stringValue())
                .isEqualTo("saved");

        assertThat(cay.call("POST", "/v2/sandboxes/" + id + "/connect", "{}").status())
                .isEqualTo(201);
        cay.node.becomesSaved(new SandboxId(id), Saved.FROZEN);
        assertThat(info(id).has("paused")).isFalse();
    }

    @Test
    void filesThatAreLeftAloneAreToldOf() throws Exception {
        String id = cay.create();
        pause(id, "");
        cay.node.becomesSaved(new SandboxId(id), Saved.filesOnly("memory ran short"));
        awaitDurability(id, "{\"state\":\"saved\"}");
        assertThat(info(id).get("paused").get("memory").booleanValue()).isFalse();
        assertThat(lastEvent(id).get("eventData").get("memory_loss").stringValue())
                .isEqualTo("memory ran short");
        assertThat(cay.call("POST", "/v2/sandboxes/" + id + "/connect", "{}").status())
                .isEqualTo(201);
        assertThat(cay.node.calls).contains("resume " + id + " false");
    }

    @Test
    void theClientSaysWhatItWaitsFor() {
        String id = cay.create();
        var answer = cay.call("POST", "/sandboxes/" + id + "/pause", "", "Cay-Pause-Ack", "soon");
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.message()).isEqualTo("validation error: the header Cay-Pause-Ack must be frozen or saved");
        assertThat(cay.call("POST", "/sandboxes/" + id + "/pause", "", "Cay-Pause-Ack", "saved")
                        .status())
                .isEqualTo(204);
        assertThat(cay.node.acks).containsEntry(new SandboxId(id), Durability.SAVED);
        assertThat(durability(id)).isEqualTo("{\"state\":\"saved\"}");
        assertThat(story(id)).containsExactly("create", "pause");
    }

    /// The node was faster than the record of the pause.
    @Test
    void aSaveThatEndsBeforeThePauseIsNotedIsSeen() {
        String id = cay.create();
        cay.node.onAnswer = () -> cay.node.paused.put(new SandboxId(id), Saved.WHOLE);
        assertThat(pause(id, "")).isEqualTo(204);
        assertThat(durability(id)).isEqualTo("{\"state\":\"saved\"}");
        assertThat(story(id)).containsExactly("create", "pause", "update");
    }

    @Test
    void theNextServerHearsOfWhatWasSavedMeanwhile() throws Exception {
        String id = cay.create();
        pause(id, "");
        cay.close();
        cay.node.paused.put(new SandboxId(id), Saved.WHOLE);
        cay = TestServer.again(directory, cay);
        assertThat(durability(id)).isEqualTo("{\"state\":\"saved\"}");
        assertThat(story(id)).containsExactly("create", "pause", "update");
    }
}
