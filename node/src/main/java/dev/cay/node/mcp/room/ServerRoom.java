package dev.cay.node.mcp.room;

import dev.cay.node.files.FileTree;
import dev.cay.node.guest.GuestLink;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/// A sandbox that is there for a server alone: nobody lists, finds or reaches it, and no later daemon takes it up.
public interface ServerRoom extends AutoCloseable {
    GuestLink link();

    FileTree files();

    /// Connects to a server that listens inside.
    ///
    /// @throws java.net.ConnectException when none does
    SocketChannel dial(int port) throws IOException;

    /// Puts it away with what runs in it, whose memory is kept where nobody can read it. Whoever speaks with that must
    /// have let go of it. Blocks, with a limit.
    ///
    /// @throws dev.cay.wire.CayException when that cannot be done; then it has ended
    void sleep();

    /// Brings it back, as it was but for its {@link #link}. Blocks, with a limit.
    ///
    /// @throws dev.cay.wire.CayException when that cannot be done; then it has ended
    void wake();

    /// Stops all that runs inside, for good. Blocks, with a limit.
    ///
    /// @return the files that differ from its layers, as overlayfs writes them; there until the room is closed
    Path stop();

    /// Ends it with all that is in it.
    @Override
    void close();
}
