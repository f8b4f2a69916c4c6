package dev.cay.server.network;

import dev.cay.wire.TeamId;
import java.util.Set;

/// What stands for secrets and identity tokens in header values: `${e2b.secrets.NAME}` and
/// `${e2b.identity.tokens.NAME}`.
public interface Placeholders {
    /// Refuses names that the team does not have, with a sentence for the client.
    ///
    /// @param secrets names of secrets, as they are written
    /// @param tokens  names of identity tokens
    void require(TeamId team, Set<String> secrets, Set<String> tokens);
}
