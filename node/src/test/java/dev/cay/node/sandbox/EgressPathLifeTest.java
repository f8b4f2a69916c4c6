package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Keep;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The path of real sandboxes through their life, and whom programs inside trust.
@Timeout(240)
@NeedsRoot
class EgressPathLifeTest {
    private static final SandboxId ID = new SandboxId("named");
    private static final String SERVER_AUTHORITY = "/etc/ssl/certs/ca-certificates.crt";

    private TestNode.Place place;
    private OutsideNetwork outside;
    private TestNode node;

    @BeforeEach
    void open() throws Exception {
        place = TestNode.Place.make();
        outside = new OutsideNetwork(place);
        node = new TestNode(place);
    }

    @AfterEach
    void close() throws Exception {
        try (var _ = place;
                var _ = outside;
                var _ = node) {
            // Nothing to do but to close them, whichever there are.
        }
    }

    /// Only this address, by a sandbox whose connections take the path.
    private static Egress only(String address) {
        return new Egress(true, List.of(address, "x.test"), List.of("0.0.0.0/0"), Map.of(), null, false, false);
    }

    private void assertReachesOnly(String address) throws Exception {
        String other = address.equals(outside.one) ? outside.two : outside.one;
        assertThat(node.run(ID.value(), OutsideNetwork.reach(address))).endsWith("open");
        assertThat(node.run(ID.value(), OutsideNetwork.reach(other))).endsWith("shut");
    }

    @Test
    void rulesHoldThroughPauseAndRestart() throws Exception {
        node.keepers.create(TestNode.spec(ID.value()).withEgress(only(outside.one)));
        assertReachesOnly(outside.one);
        assertThat(node.keepers.egressSeen(ID).entries())
                .anySatisfy(entry -> assertThat(entry.allowed()).isTrue())
                .anySatisfy(entry -> assertThat(entry.allowed()).isFalse());
        node.keepers.setEgress(ID, only(outside.two));
        assertReachesOnly(outside.two);

        node.close();
        node = new TestNode(place);
        assertReachesOnly(outside.two);

        node.keepers.pause(ID, Keep.MEMORY);
        node.keepers.resume(ID, true);
        assertReachesOnly(outside.two);

        node.keepers.setEgress(ID, Egress.open());
        assertThat(node.run(ID.value(), OutsideNetwork.reach(outside.one))).endsWith("open");
    }

    @Test
    void programsTrustTheEgressAuthorityOnlyWhereTlsIsOpened() throws Exception {
        node.keepers.create(TestNode.spec(ID.value()).withEgress(only(outside.one)));
        String count =
                "grep -c 'BEGIN CERTIFICATE' %s /etc/ssl/cay/extra.pem | tr '\\n' ' '; ls /usr/local/share/ca-certificates"
                        .formatted(SERVER_AUTHORITY);
        String before = node.run(ID.value(), count);
        assertThat(before).doesNotContain("cay-egress.crt");

        var transform = new Egress.Transform(Map.of("X-Token", "value"), null);
        var ruled = new Egress(true, List.of(), List.of(), Map.of("x.test", transform), null, false, false);
        node.keepers.setEgress(ID, ruled);
        node.keepers.setEgress(ID, ruled);
        String after = node.run(ID.value(), count);
        assertThat(after).contains("cay-egress.crt");
        assertThat(numbers(after).get(0))
                .as("the bundle")
                .isEqualTo(numbers(before).get(0) + 1);
        assertThat(numbers(after).get(1))
                .as("the file of Node")
                .isEqualTo(numbers(before).get(1) + 1);

        String own = Files.readString(place.directory().resolve("state/egress/ca.pem"));
        assertThat(node.run(ID.value(), "cat /usr/local/share/ca-certificates/cay-egress.crt")
                        .strip())
                .isEqualTo(own.strip());
        assertThat(node.run(
                        ID.value(),
                        "openssl verify -CApath /etc/ssl/certs /usr/local/share/ca-certificates/cay-egress.crt 2>&1"))
                .endsWith("OK");
        assertThat(node.run(ID.value(), "grep -rl 'PRIVATE KEY' /etc/ssl /usr/local/share /run 2>/dev/null | wc -l"))
                .isEqualTo("0");
    }

    private static List<Integer> numbers(String counts) {
        return List.of(counts.split(" ")).stream()
                .filter(word -> word.matches(".*:[0-9]+"))
                .map(word -> Integer.parseInt(word.substring(word.lastIndexOf(':') + 1)))
                .toList();
    }
}
