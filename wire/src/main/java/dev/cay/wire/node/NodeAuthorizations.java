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
    /// The state of a server of a sandbox's MCP gateway.
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

    /// The parameters with which an authorization server sends a browser back.
    ///
    /// @param state  identifies the authorization
    /// @param code   null if it was refused
    /// @param issuer the authorization server; null if missing
    /// @param error  a word for the reason of a refusal; null without one
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

    /// An authorized server.
    ///
    /// @param server its key
    record Authorized(SandboxId sandbox, String server) {}

    /// The state of a server, with the address to authorize it if it needs that. A server that was not called yet is
    /// called first, which may take seconds.
    ServerState authorize(SandboxId sandbox, String server);

    /// Completes the authorization that the state belongs to, and no other. Works once for each state.
    Authorized complete(Redirect redirect);

    /// The description of this Cay for authorization servers, at the address that is its client id; empty if they
    /// cannot reach any address of it.
    Optional<Map<String, Object>> clientMetadata();

    /// A node that has no MCP gateways.
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
