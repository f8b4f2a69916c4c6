package dev.cay.node.mcp.side;

import dev.cay.node.files.FileTree;
import dev.cay.node.guest.GuestLink;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/// A sandbox for one server: it is in no list, clients cannot reach it, and a later daemon removes it.
public interface SideSandbox extends AutoCloseable {
    GuestLink link();

    FileTree files();

    /// Connects to a server that listens inside.
    ///
    /// @throws java.net.ConnectException when none does
    SocketChannel dial(int port) throws IOException;

    /// Suspends it with its processes, whose memory is stored encrypted. All connections to them must be closed before.
    /// Blocks, with a limit.
    ///
    /// @throws dev.cay.wire.CayException when that fails; then it has ended
    void sleep();

    /// Brings it back, as it was but for its {@link #link}. Blocks, with a limit.
    ///
    /// @throws dev.cay.wire.CayException when that cannot be done; then it has ended
    void wake();

    /// Stops everything inside, for good. Blocks, with a limit.
    ///
    /// @return the files that differ from its layers, as overlayfs writes them; they exist until it is closed
    Path stop();

    /// Ends it with all that is in it.
    @Override
    void close();
}
