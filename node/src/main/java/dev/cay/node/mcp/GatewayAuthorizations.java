package dev.cay.node.mcp;

import dev.cay.node.mcp.oauth.Authorizations;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.NodeAuthorizations;
import java.util.Map;
import java.util.Optional;

/// The interface for the server's routes about authorizations of MCP servers. Thread-safe.
public final class GatewayAuthorizations implements NodeAuthorizations {
    private final Gateways gateways;
    private final Authorizations authorizations;

    public GatewayAuthorizations(Gateways gateways, Authorizations authorizations) {
        this.gateways = gateways;
        this.authorizations = authorizations;
    }

    @Override
    public ServerState authorize(SandboxId sandbox, String key) {
        var server = gateways.find(sandbox)
                .orElseThrow(
                        () -> new CayException(ErrorKind.NOT_FOUND, "sandbox %s has no MCP gateway".formatted(sandbox)))
                .servers()
                .looked(key);
        String reason = server.reason();
        return new ServerState(
                key,
                server.state().word(),
                reason.isEmpty() ? null : reason,
                server.authorize().orElse(null));
    }

    @Override
    public Authorized complete(Redirect redirect) {
        return authorizations.complete(redirect);
    }

    @Override
    public Optional<Map<String, Object>> clientMetadata() {
        return authorizations.clientMetadata();
    }
}
