package dev.cay.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.EgressProxy;
import java.util.Map;

/// Sandboxes with network rules.
interface NetworkCalls extends ServerCalls {
    /// The team of the first key.
    String team();

    String FULL = """
            {"allowOut":["1.1.1.1","Example.org","*.deep.test","9.9.9.0/24:443"],"denyOut":["0.0.0.0/0"],
             "rules":{"API.example.org:8443":[{"transform":{"headers":{"X-A":"plain"}}}]},
             "egressProxy":{"address":"8.8.8.8:1080","username":"me","password":"hidden-word-77"}}""";

    default String sandbox(String network) {
        return cay().create(
                        "{\"templateID\":\"base\",\"allow_internet_access\":true,\"network\":%s}".formatted(network))
                .get("sandboxID")
                .stringValue();
    }

    default Egress egress(String id) {
        return requireNonNull(cay().node.running.get(new SandboxId(id))).egress();
    }

    default void put(String id, String body, int status) {
        var answer = cay().call("PUT", "/sandboxes/%s/network".formatted(id), body);
        assertThat(answer.status()).as(answer.text()).isEqualTo(status);
    }

    default void assertFull(Egress egress) {
        assertThat(egress.internet()).isTrue();
        assertThat(egress.allow()).containsExactly("1.1.1.1", "example.org", "*.deep.test", "9.9.9.0/24:443");
        assertThat(egress.deny()).containsExactly("0.0.0.0/0");
        assertThat(egress.rules())
                .isEqualTo(Map.of("api.example.org", new Egress.Transform(Map.of("X-A", "plain"), null)));
        assertThat(egress.proxy()).isEqualTo(new EgressProxy("8.8.8.8:1080", "me", "hidden-word-77"));
    }
}
