package dev.cay.node.mcp.server;

import dev.cay.node.files.FileTree;
import dev.cay.node.guest.GuestLink;

/// A sandbox that is there for a server alone: nobody lists, finds or reaches it, and no later daemon takes it up.
public interface ServerRoom extends AutoCloseable {
    GuestLink link();

    FileTree files();

    /// Ends it with all that is in it.
    @Override
    void close();
}
