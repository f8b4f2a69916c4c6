package dev.cay.node.mcp.server;

import dev.cay.node.mcp.catalog.ServerLaunch;
import java.io.IOException;
import java.nio.channels.SocketChannel;

/// Connects to servers that listen at a port of their own sandbox.
public interface PortLinks {
    /// Makes a connection into the server's sandbox.
    interface Inside {
        SocketChannel dial(int port) throws IOException;
    }

    /// @param name what users know the server by
    /// @throws dev.cay.wire.CayException with a sentence for the user when that cannot be done
    ServerLink connect(String name, Inside inside, ServerLaunch.Port port, ServerLink.Listener listener);
}
