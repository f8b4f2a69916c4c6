package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.wire.node.Egress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// Network rules of a running sandbox are changed, as a whole or not at all.
interface EgressChangeContract extends NetworkCalls {
    @Test
    default void aChangeReplacesAllEgressAndKeepsIngress() {
        String id = sandbox("""
                {"allowOut":["1.1.1.1"],"denyOut":["0.0.0.0/0"],"maskRequestHost":"me:${PORT}","httpsPorts":[8443],
                 "allowPublicTraffic":false}""");
        put(id, FULL, 204);
        assertFull(egress(id));
        put(id, "{\"denyOut\":[\"8.8.8.8\"],\"maskRequestHost\":\"other\",\"httpsPorts\":[1]}", 204);
        assertThat(egress(id)).isEqualTo(new Egress(true, List.of(), List.of("8.8.8.8"), Map.of(), null, false, false));
        var network = info(id).get("network");
        assertThat(network.has("rules")).isFalse();
        assertThat(network.has("egressProxy")).isFalse();
        assertThat(network.has("allowOut")).isFalse();
        assertThat(network.get("maskRequestHost").stringValue()).isEqualTo("me:${PORT}");
        assertThat(network.get("httpsPorts").get(0).intValue()).isEqualTo(8443);
        assertThat(network.get("allowPublicTraffic").booleanValue()).isFalse();
        put(id, "{}", 204);
        assertThat(egress(id)).isEqualTo(Egress.open());
        put(id, "{\"allowOut\":[\"1.1.1.1\"],\"allow_internet_access\":false}", 204);
        assertThat(egress(id)).isEqualTo(Egress.closed());
        put(id, "{\"denyOut\":[\"0.0.0.0/0\"]}", 204);
        assertThat(egress(id)).isEqualTo(Egress.closed());
    }

    @Test
    default void changesAtOnceLeaveNodeAndRecordTheSame() throws Exception {
        String id = sandbox("{}");
        var first = new CountDownLatch(1);
        var goOn = new CountDownLatch(1);
        cay().node.onEgress = egress -> {
            if (egress.deny().contains("8.8.8.1")) {
                hold(first, goOn);
            }
        };
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var one = threads.submit(() -> put(id, "{\"denyOut\":[\"8.8.8.1\"]}", 204));
            assertThat(first.await(1, TimeUnit.MINUTES)).isTrue();
            var two = threads.submit(() -> put(id, "{\"denyOut\":[\"8.8.8.2\"]}", 204));
            assertThatThrownBy(() -> two.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            goOn.countDown();
            one.get(1, TimeUnit.MINUTES);
            two.get(1, TimeUnit.MINUTES);
        }
        assertThat(egress(id).deny()).containsExactly("8.8.8.2");
        assertThat(info(id).at("/network/denyOut/0").stringValue()).isEqualTo("8.8.8.2");
    }

    @Test
    default void aPauseWaitsForAChangeThatIsUnderWay() throws Exception {
        String id = sandbox("{}");
        var changing = new CountDownLatch(1);
        var goOn = new CountDownLatch(1);
        cay().node.onEgress = _ -> hold(changing, goOn);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var change = threads.submit(() -> put(id, "{\"denyOut\":[\"8.8.8.1\"]}", 204));
            assertThat(changing.await(1, TimeUnit.MINUTES)).isTrue();
            var pause = threads.submit(() -> pause(id, "{}"));
            assertThatThrownBy(() -> pause.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            goOn.countDown();
            change.get(1, TimeUnit.MINUTES);
            assertThat(pause.get(1, TimeUnit.MINUTES)).isEqualTo(204);
        }
        assertThat(info(id).at("/network/denyOut/0").stringValue()).isEqualTo("8.8.8.1");
    }

    @Test
    default void aChangeThatCannotBeWrittenLeavesTheNodeAsItWas() {
        String id = sandbox("{\"denyOut\":[\"8.8.8.1\"]}");
        cay().node.onEgress = egress -> cay().store.away = egress.deny().contains("8.8.8.2");
        put(id, "{\"denyOut\":[\"8.8.8.2\"]}", 503);
        assertThat(egress(id).deny()).containsExactly("8.8.8.1");
        assertThat(info(id).at("/network/denyOut/0").stringValue()).isEqualTo("8.8.8.1");
    }

    @Test
    default void theEventOfAChangeSaysWhatIsAllowedAndDenied() {
        String id = sandbox("{}");
        put(id, FULL, 204);
        assertThat(lastEgress(id)).isEqualTo(cay().json("""
                {"allowed_cidrs":["1.1.1.1","9.9.9.0/24:443"],"denied_cidrs":["0.0.0.0/0"],
                 "allowed_domains":["example.org","*.deep.test"]}"""));
        put(id, "{\"denyOut\":[\"8.8.8.8\",\"9.9.9.0/24\"]}", 204);
        assertThat(lastEgress(id))
                .isEqualTo(
                        cay().json(
                                        "{\"allowed_cidrs\":[],\"denied_cidrs\":[\"8.8.8.8\",\"9.9.9.0/24\"],\"allowed_domains\":[]}"));
        put(id, "{\"allow_internet_access\":false,\"allowOut\":[\"1.1.1.1\"]}", 204);
        assertThat(lastEgress(id))
                .isEqualTo(
                        cay().json("{\"allowed_cidrs\":[],\"denied_cidrs\":[\"0.0.0.0/0\"],\"allowed_domains\":[]}"));
        assertThat(events(id).toString()).doesNotContain("hidden-word", "X-A");
    }

    /// Of the newest event, in an order of its own for the fields.
    private JsonNode lastEgress(String id) {
        var event = lastEvent(id);
        assertThat(event.get("type").stringValue()).isEqualTo("sandbox.lifecycle.updated");
        return event.at("/eventData/network_egress");
    }

    @Test
    default void aWrongChangeChangesNothing() {
        String id = sandbox(FULL);
        put(id, "{\"denyOut\":[\"example.org\"]}", 400);
        put(id, "{\"rules\":{\"example.org\":[{\"transform\":{\"headers\":{\"X-A\":\"1\",\"x-a\":\"2\"}}}]}}", 400);
        assertFull(egress(id));
        put("i00000000000000000000", "{}", 404);
        assertThat(pause(id, "{}")).isEqualTo(204);
        put(id, "{}", 409);
    }
}
