package dev.cay.http;

import java.util.List;

/// Finds the client's address of a request that came through a reverse proxy.
@FunctionalInterface
public interface ClientAddresses {
    /// Trusts no proxy.
    ClientAddresses PEERS = (peer, _) -> peer;

    /// @param peer      where the connection comes from
    /// @param forwarded all headers `X-Forwarded-For` of the request, in their order
    String client(String peer, List<String> forwarded);
}
