package dev.cay.mcp.protocol;

/// One client with whoever answers it. Called by one thread at a time, which it must not keep: what takes long goes on
/// elsewhere.
public interface Conversation extends AutoCloseable {
    /// Answers now or later, once, from any thread.
    void request(Message request, Reply reply);

    void notification(Message notification);

    /// The client's answer to a request that was made of it.
    void response(Message response);

    /// The client is gone: ends what it had under way.
    @Override
    void close();

    /// The way to a client for what belongs to none of its requests. Never blocks; what nobody takes is dropped.
    interface Client {
        void send(Message message);
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
