package dev.cay.node.sandbox;

import dev.cay.wire.node.Egress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// A daemon of its own, made to be killed: it has one sandbox with egress rules, in which a process tries all
/// the time to reach what they deny.
final class DoomedRules {
    private DoomedRules() {}

    /// Arguments: directory and instance of the place, an allowed address and a denied one.
    public static void main(String[] args) throws Exception {
        var node = new TestNode(TestNode.Place.reserved(Path.of(args[0]), args[1]));
        var egress = new Egress(true, List.of(args[2]), List.of("0.0.0.0/0"), Map.of(), null, false, false);
        node.keepers.create(TestNode.spec("ruled").withEgress(egress));
        node.start(
                        "ruled",
                        "while :; do echo x >> /tmp/tried; (exec 3<>/dev/tcp/%s/%d) 2>/dev/null && echo leak >> /tmp/leak;"
                                        .formatted(args[3], OutsideNetwork.PORT)
                                + " sleep 0.02; done")
                .close();
        System.out.println("ready");
        Thread.sleep(60_000);
    }
}
