package dev.cay.wire.node;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Authorizations by which MCP servers that run elsewhere let sandboxes of this node in (OAuth). A user grants one in a
/// browser, at the authorization server of that MCP server.
public interface NodeAuthorizations {
    /// How a server of a sandbox's MCP gateway is doing.
    ///
    /// @param server    its key
    /// @param state     a word like `ready`, `failed` or `needs authorization`
    /// @param reason    why it does not work; null if it does
    /// @param authorize the URL that a user opens in a browser; null if no authorization is needed
    record ServerState(
            String server,
            String state,
            @Nullable String reason,
            @Nullable String authorize) {}

    /// The parameters that an authorization server gave a browser to bring back.
    ///
    /// @param state  by which the authorization is recognised
    /// @param code   null if it was refused
    /// @param issuer who says so; null if that is not told
    /// @param error  a word for why it was refused; null if it was not
    record Redirect(
            @Nullable String state,
            @Nullable String code,
            @Nullable String issuer,
            @Nullable String error) {
        /// The code is a credential, and so is the state.
        @Override
        public String toString() {
            return "Redirect[error=%s]".formatted(error);
        }
    }

    /// What was authorized.
    ///
    /// @param server its key
    record Authorized(SandboxId sandbox, String server) {}

    /// Tells how a server is doing, and where to authorize it if it needs that. One that nobody has called yet is
    /// called first, which may take seconds.
    ServerState authorize(SandboxId sandbox, String server);

    /// Completes the authorization that the state belongs to, and no other. Works once for each state.
    Authorized complete(Redirect redirect);

    /// What authorization servers read about this Cay at the address that is its client id; empty if it has no address
    /// that they can reach.
    Optional<Map<String, Object>> clientMetadata();

    /// For a node that has no MCP gateways.
    NodeAuthorizations NONE = new NodeAuthorizations() {
        @Override
        public ServerState authorize(SandboxId sandbox, String server) {
            throw new CayException(ErrorKind.NOT_FOUND, "sandbox %s has no MCP gateway".formatted(sandbox));
        }

        @Override
        public Authorized complete(Redirect redirect) {
            throw new CayException(ErrorKind.NOT_FOUND, "no authorization is under way");
        }

        @Override
        public Optional<Map<String, Object>> clientMetadata() {
            return Optional.empty();
        }
    };
}
