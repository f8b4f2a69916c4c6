package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.template.Origin;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.SandboxKind;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// What operators have removed from the disk, and what the server names meanwhile.
@Fast
final class DiskCollectionsTest extends ServerTest {
    @Test
    void tellsWhatWasRemovedAsItGoesOn() {
        cay.disk.go = new CountDownLatch(1);
        var begun = cay.admin("POST", "/admin/collections", "{\"olderThanSeconds\": 3600}");
        assertThat(begun.status()).isEqualTo(202);
        String id = begun.json().get("collectionID").stringValue();
        TestServer.await("the first thing", () -> show(id, 0).get("count").intValue() == 1);
        assertThat(show(id, 0).get("status").stringValue()).isEqualTo("running");
        assertThat(cay.admin("POST", "/admin/collections", "").status()).isEqualTo(409);

        cay.disk.go.countDown();
        awaitEnd(id);
        var end = show(id, 1);
        assertThat(end.get("status").stringValue()).isEqualTo("done");
        assertThat(end.get("bytes").intValue()).isEqualTo(1500);
        assertThat(end.get("removed").size()).isEqualTo(1);
        assertThat(end.get("removed").get(0).get("name").stringValue()).isEqualTo("step-2");
        assertThat(cay.disk.calls).containsExactly("PT1H");
        assertThat(cay.admin("GET", "/admin/collections/other", "").status()).isEqualTo(404);
    }

    @Test
    void takesTheAgeOfTheSettingsUnlessTheOperatorNamesOne() {
        awaitEnd(begin("{\"dryRun\": true}"));
        awaitEnd(begin("{\"olderThanSeconds\": 0}"));
        assertThat(cay.disk.calls).containsExactly("dry PT720H", "PT0S");
        assertThat(cay.admin("POST", "/admin/collections", "{\"olderThanSeconds\": -1}")
                        .status())
                .isEqualTo(400);
    }

    @Test
    void saysWhyACollectionFailed() {
        cay.disk.failure = new CayException(ErrorKind.UNAVAILABLE, "the disk is away");
        String id = begin("");
        awaitEnd(id);
        assertThat(show(id, 0).get("status").stringValue()).isEqualTo("error");
        assertThat(show(id, 0).get("reason").stringValue()).isEqualTo("the disk is away");
        cay.disk.failure = null;
        awaitEnd(begin(""));
    }

    @Test
    void namesTemplatesAndNothingThatWasDeleted() {
        cay.server.startCollections();
        var base = new Resources(2, 512, 10240);
        TestServer.await(
                "all that is on record",
                () -> cay.disk.named.stream().map(SandboxKind::layers).toList().contains(List.of("layer1", "layer0")));
        cay.server.templates().register("base", base, new Origin(List.of("layer2", "layer0"), "user", null), null);
        awaitEnd(begin("{\"dryRun\": true}"));
        assertThat(cay.disk.named).extracting(SandboxKind::layers).containsExactly(List.of("layer2", "layer0"));
        assertThat(cay.disk.named).extracting(SandboxKind::resources).containsExactly(base);
    }

    @Test
    void isNotForEverybody() {
        assertThat(cay.request("POST", "/admin/collections", Map.of()).status()).isEqualTo(401);
        assertThat(cay.call("POST", "/admin/collections", "{\"olderThanSeconds\": 0}")
                        .status())
                .as("a key of the first team that may do everything")
                .isEqualTo(401);
        assertThat(cay.disk.calls).isEmpty();
    }

    private String begin(String body) {
        var begun = cay.admin("POST", "/admin/collections", body);
        assertThat(begun.status()).isEqualTo(202);
        return begun.json().get("collectionID").stringValue();
    }

    private void awaitEnd(String id) {
        TestServer.await(
                "the end", () -> !show(id, 0).get("status").stringValue().equals("running"));
    }

    private JsonNode show(String id, int offset) {
        return cay.admin("GET", "/admin/collections/%s?offset=%d".formatted(id, offset), "")
                .json();
    }
}
