package dev.cay.server;

import dev.cay.contract.NodeContract;
import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Node;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.SandboxSpec;
import java.util.List;
import java.util.Map;

/// The node that the server's tests use answers as a real one does.
@Fast
final class FakeNodeTest implements NodeContract {
    private final FakeNode node = new FakeNode();

    @Override
    public Node node() {
        return node;
    }

    @Override
    public SandboxSpec spec(String id) {
        return new SandboxSpec(
                new SandboxId(id),
                new TemplateId("template"),
                List.of("layer"),
                new Resources(1, 256, 200),
                Map.of(),
                null,
                "user",
                null,
                Egress.open(),
                null);
    }
}
