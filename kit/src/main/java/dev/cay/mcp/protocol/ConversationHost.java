package dev.cay.mcp.protocol;

import org.jspecify.annotations.Nullable;

/// Who admits clients over HTTP, and has a conversation for each of them.
public interface ConversationHost {
    /// Who the bearer token belongs to; null: nobody, which answers 401. Compares in constant time. Called for
    /// every request, before anything else of it is looked at.
    @Nullable
    String admit(@Nullable String bearer);

    /// A conversation for a client of that owner; its first request is `initialize`. Whoever asked closes it.
    Conversation open(String owner, Conversation.Client client);

    /// Whether nobody can come now. Such times do not count as ones in which nobody came.
    default boolean isAway() {
        return false;
    }
}
