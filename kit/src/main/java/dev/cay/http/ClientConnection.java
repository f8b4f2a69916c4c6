package dev.cay.http;

import dev.cay.wire.SandboxId;
import org.jspecify.annotations.Nullable;

/// The client's connection, as an exchange on it needs it.
interface ClientConnection {
    /// The sandbox inside which the connection was accepted, or null when it came from a host port.
    @Nullable
    SandboxId inside();

    /// The limit of bytes that are only discarded, shared by all connections of the port.
    RateLimiter unwanted();

    /// Calls `gone` once if the client closes or resets before {@link #unwatch}. Only while nobody else reads the
    /// connection: the request must have arrived whole.
    void watch(Runnable gone);

    void unwatch();

    /// Closes with a TCP reset, not with an orderly end; unsent bytes are dropped.
    void cut();
}
