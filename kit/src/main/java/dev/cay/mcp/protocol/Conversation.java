package dev.cay.mcp.protocol;

import java.util.Optional;

/// The messages between one client and the program that answers it. Called by one thread at a time, which it must not
/// block: long work is done on other threads.
public interface Conversation extends AutoCloseable {
    /// Answers now or later, once, from any thread.
    void request(Message request, Reply reply);

    /// Like {@link #request}, for a caller that can spare its thread for one request: long work is returned, and the
    /// caller must run it. Meanwhile other threads may call this conversation.
    ///
    /// @return nothing if other threads do the rest
    default Optional<Runnable> begin(Message request, Reply reply) {
        request(request, reply);
        return Optional.empty();
    }

    void notification(Message notification);

    /// The client's answer to a request that was made of it.
    void response(Message response);

    /// The client has disconnected: cancels its open requests.
    @Override
    void close();

    /// Sends a client messages that belong to none of its requests. Never blocks; messages that the client does not
    /// fetch are dropped.
    interface Client {
        void send(Message message);

        /// Whether the client can be asked something that belongs to none of its requests.
        default boolean takesQuestions() {
            return true;
        }
    }

    /// Receives the answer to one request.
    interface Reply {
        /// Something that belongs to the request and comes before its answer.
        void send(Message message);

        /// The server closed the stream so that its client reconnects for the rest. A client that can reconnect is
        /// disconnected as well; for others nothing changes.
        default void letGo() {}

        void end(Message response);
    }
}
