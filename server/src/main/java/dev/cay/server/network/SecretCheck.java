package dev.cay.server.network;

import dev.cay.server.access.Caller;
import java.util.Set;

/// Decides whether a caller may use secrets in rules.
public interface SecretCheck {
    /// Refuses with a sentence for the client. A secret that is not there is no reason: a request that needs it fails.
    ///
    /// @param names of secrets in rules, in lower case
    void require(Caller caller, Set<String> names);
}
