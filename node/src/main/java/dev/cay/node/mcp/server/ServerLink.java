package dev.cay.node.mcp.server;

import dev.cay.mcp.protocol.Message;
import tools.jackson.databind.JsonNode;

/// A connection to a server. Messages may be sent by any thread.
public interface ServerLink extends AutoCloseable {
    /// Receives the messages of the server. Called by one thread at a time, which it may block for a while: the server
    /// then waits.
    interface Listener {
        void heard(Message message);

        /// The server ended its stream before the answer to a request, and is asked for the rest again.
        default void letGo(JsonNode request) {}

        /// The last call, made once, unless this side closed the link.
        ///
        /// @param reason a sentence for the user, with the last lines of the server's standard error
        void over(String reason);
    }

    /// Sends a message, with a limit.
    ///
    /// @throws dev.cay.wire.CayException when the server does not accept it any more
    void send(Message message);

    /// The last lines of the server's standard error, as the end of a sentence: `; it said last: no such host`. Empty
    /// if there are none.
    default String lastWords() {
        return "";
    }

    /// Ends the connection, and the process that serves it alone. No message is delivered afterwards.
    @Override
    void close();
}
