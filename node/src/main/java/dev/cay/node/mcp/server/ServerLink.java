package dev.cay.node.mcp.server;

import dev.cay.mcp.protocol.Message;
import tools.jackson.databind.JsonNode;

/// A connection to a server. Messages may be sent by any thread.
public interface ServerLink extends AutoCloseable {
    /// Who hears the server. Called by one thread at a time, which it may keep for a while: the server then waits.
    interface Listener {
        void heard(Message message);

        /// The server ended its stream before the answer to a request of ours, which it is asked for again.
        default void letGo(JsonNode request) {}

        /// The last call, once, unless it was closed by us.
        ///
        /// @param reason a sentence for the user, with the last the server said on its standard error
        void over(String reason);
    }

    /// Has a limit.
    ///
    /// @throws dev.cay.wire.CayException when the server does not take it any more
    void send(Message message);

    /// The last the server said on its standard error, as the end of a sentence: `; it said last: no such host`. Empty
    /// if that was nothing, or cannot be heard from here.
    default String lastWords() {
        return "";
    }

    /// Ends the connection, and what runs for it alone. Nothing is heard afterwards.
    @Override
    void close();
}
