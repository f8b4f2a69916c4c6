package dev.cay.mcp.protocol;

import org.jspecify.annotations.Nullable;

/// Authenticates HTTP clients, and opens a conversation for each of them.
public interface ConversationHost {
    /// The owner of the bearer token; null if it is not valid, which answers 401. Compares in constant time. Called for
    /// every request, before anything else of it is read.
    @Nullable
    String admit(@Nullable String bearer);

    /// Opens a conversation for a client of that owner; its first request is `initialize`. The caller closes it.
    Conversation open(String owner, Conversation.Client client);

    /// Whether clients cannot reach the host now, as during a pause. Such times do not count as idle.
    default boolean isAway() {
        return false;
    }
}
