package dev.cay.node.mcp.server;

import java.time.Duration;

/// One server for one sandbox, with whatever it takes to run it. Thread-safe.
///
/// Nothing is started before the first connection. What nobody is connected to for a while may be stopped, and is
/// started again for the next one.
public interface ServerHome extends AutoCloseable {
    /// Has all that the server needs before it can start: a package or an image that is fetched, a network that its
    /// sandbox may use. Returns at once where nothing is missing. Blocks, with a limit, and starts nothing.
    ///
    /// @throws dev.cay.wire.CayException with a sentence for the user when that cannot be had
    default void prepare() {}

    /// Makes sure that the server can be called at all, where it runs elsewhere. Blocks, with a limit.
    ///
    /// @throws dev.cay.wire.CayException with a sentence for the user when it cannot
    default void reach() {}

    /// Connects to the server as a client of its own: no two connections share what it keeps in memory. Blocks until
    /// messages can be sent, with a limit.
    ///
    /// @throws dev.cay.wire.CayException with a sentence for the user when that cannot be done
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

    /// Puts away what runs, with its memory, until {@link #wake}; connections stay, and wait. What cannot be kept is
    /// over. Blocks, with a limit.
    ///
    /// @return false when it is nothing that can be put away; then it is to be closed
    default boolean sleep() {
        return false;
    }

    /// Brings back what was put away; nothing to do for one that was not. Blocks, with a limit.
    default void wake() {}

    /// Like {@link #close}, but that nothing more is said to the server.
    default void cut() {
        close();
    }

    /// Ends all connections, and the server with everything it made.
    @Override
    void close();
}
