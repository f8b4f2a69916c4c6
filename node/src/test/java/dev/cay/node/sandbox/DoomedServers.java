package dev.cay.node.sandbox;

import dev.cay.node.mcp.catalog.CatalogServer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/// A daemon of its own, made to be killed, with a sandbox and a side sandbox of that.
final class DoomedServers {
    private DoomedServers() {}

    /// Arguments: directory, instance and range of the place, and whether the side sandbox shall sleep.
    public static void main(String[] args) throws Exception {
        var node = new TestNode(TestNode.Place.reserved(Path.of(args[0]), args[1]));
        var network = new CatalogServer.Network(false, List.of());
        var side = node.keepers.sideSandboxes().open(ServerHomeTest.OWNER, ServerHomeTest.wanted(network), _ -> {});
        if (Boolean.parseBoolean(args[2])) {
            side.sleep();
        }
        System.out.println("serving");
        new CountDownLatch(1).await();
    }
}
