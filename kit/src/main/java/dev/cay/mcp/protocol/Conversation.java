package dev.cay.mcp.protocol;

import java.util.Optional;

/// One client with whoever answers it. Called by one thread at a time, which it must not keep: what takes long goes on
/// elsewhere.
public interface Conversation extends AutoCloseable {
    /// Answers now or later, once, from any thread.
    void request(Message request, Reply reply);

    /// Like {@link #request}, for a caller that can spare its thread for one request: what takes long is returned as
    /// work, which the caller must do, and during which it may call this conversation again from other threads.
    ///
    /// @return nothing if what is left to do goes on elsewhere
    default Optional<Runnable> begin(Message request, Reply reply) {
        request(request, reply);
        return Optional.empty();
    }

    void notification(Message notification);

    /// The client's answer to a request that was made of it.
    void response(Message response);

    /// The client is gone: ends what it had under way.
    @Override
    void close();

    /// The way to a client for what belongs to none of its requests. Never blocks; what nobody takes is dropped.
    interface Client {
        void send(Message message);

        /// Whether the client can be asked something that belongs to none of its requests.
        default boolean takesQuestions() {
            return true;
        }
    }

    /// Where the answer to one request goes.
    interface Reply {
        /// Something that belongs to the request and comes before its answer.
        void send(Message message);

        /// Whoever answers has let go of its own client and wants to be asked again for the rest. A client that
        /// can come back is let go as well; for others nothing changes.
        default void letGo() {}

        void end(Message response);
    }
}
