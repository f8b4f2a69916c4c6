package dev.cay.wire.node;

import org.jspecify.annotations.Nullable;

/// The SOCKS5 proxy by which TCP of a sandbox leaves.
///
/// @param address  `host:port`
/// @param password only with a user name
public record EgressProxy(
        String address, @Nullable String username, @Nullable String password) {
    /// Without the password.
    @Override
    public String toString() {
        return "EgressProxy[address=%s, username=%s]".formatted(address, username);
    }
}
