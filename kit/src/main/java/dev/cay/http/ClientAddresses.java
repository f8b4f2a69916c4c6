package dev.cay.http;

import java.util.List;

/// Knows whose address stands for a request that came by a reverse proxy.
@FunctionalInterface
public interface ClientAddresses {
    /// Believes no proxy.
    ClientAddresses PEERS = (peer, _) -> peer;

    /// @param peer      where the connection comes from
    /// @param forwarded all headers `X-Forwarded-For` of the request, in their order
    String client(String peer, List<String> forwarded);
}
