package dev.cay.node.mcp.server;

import java.time.Duration;

/// One server of one sandbox, with everything that runs it. Thread-safe.
///
/// Nothing is started before the first connection. An unused server may be stopped after a while, and is started again
/// for the next connection.
public interface ServerHome extends AutoCloseable {
    /// Fetches everything that the server needs to start: a package or an image, permission of the network. Returns at
    /// once if nothing is missing. Blocks, with a limit, and starts nothing.
    ///
    /// @throws dev.cay.wire.CayException with a sentence for the user when that fails
    default void prepare() {}

    /// Makes sure that the server can be called at all, where it runs elsewhere. Blocks, with a limit.
    ///
    /// @throws dev.cay.wire.CayException with a sentence for the user when it cannot
    default void reach() {}

    /// Connects to the server as a separate client: connections share none of the server's memory. Blocks until
    /// messages can be sent, with a limit.
    ///
    /// @throws dev.cay.wire.CayException with a sentence for the user when that fails
    ServerLink connect(ServerLink.Listener listener);

    /// After {@link #connect} was refused as there are too many connections: returns when there is one less, or when
    /// the time is over. May also return after a moment, for the caller to try again.
    void awaitRoom(Duration limit);

    /// Whether something is being fetched before the server can start, which may take minutes.
    default boolean isPreparing() {
        return false;
    }

    /// @param listener runs each time before something may be fetched; must not block
    default void whenPreparing(Runnable listener) {}

    /// What is being fetched, in a line; empty if nothing is, or if nothing is known of it.
    default String progress() {
        return "";
    }

    /// A sentence about what runs and is not as its user expects; empty if all is.
    default String warning() {
        return "";
    }

    /// Suspends the server with its memory until {@link #wake}; connections stay, and wait. A server that cannot be
    /// saved ends. Blocks, with a limit.
    ///
    /// @return false when it cannot be suspended; then the caller closes it
    default boolean sleep() {
        return false;
    }

    /// Resumes a suspended server; does nothing for others. Blocks, with a limit.
    default void wake() {}

    /// Like {@link #close}, but without another message to the server.
    default void cut() {
        close();
    }

    /// Ends all connections, and the server with everything it made.
    @Override
    void close();
}
