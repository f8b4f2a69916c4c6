package dev.cay.server;

import dev.cay.server.edge.SandboxPorts;
import dev.cay.wire.node.Node;
import dev.cay.wire.node.NodeAuthorizations;
import dev.cay.wire.node.NodeBuilds;
import dev.cay.wire.node.NodeDashboard;
import dev.cay.wire.node.NodeDisk;
import dev.cay.wire.node.NodeTemplates;

/// The node below the server, by all that it answers.
///
/// @param templates those that come with Cay
/// @param ports     the data path into its sandboxes
public record AttachedNode(
        Node sandboxes,
        NodeTemplates templates,
        NodeBuilds builds,
        NodeDisk disk,
        NodeAuthorizations authorizations,
        NodeDashboard dashboard,
        SandboxPorts ports) {
    /// A node that has sandboxes, and nothing behind their ports.
    public static AttachedNode of(Node sandboxes) {
        return new AttachedNode(
                sandboxes,
                NodeTemplates.NONE,
                NodeBuilds.NONE,
                NodeDisk.NONE,
                NodeAuthorizations.NONE,
                NodeDashboard.NONE,
                (_, _) -> {});
    }
}
