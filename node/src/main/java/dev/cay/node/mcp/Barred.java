package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.RpcException;
import java.util.Optional;

/// The error for a server that needs a user's authorization first.
final class Barred {
    private static final String SERVER = "server";

    private Barred() {}

    /// Empty if nothing of the kind is needed.
    static Optional<RpcException> error(GatewayServer server) {
        if (server.state() != ServerStatus.State.NEEDS_AUTHORIZATION) {
            return Optional.empty();
        }
        return server.authorize()
                .map(url -> new RpcException(
                        RpcException.INTERNAL_ERROR,
                        "%s needs authorization: open %s in a browser, and try again".formatted(server.key(), url),
                        Json.mapper()
                                .createObjectNode()
                                .put(SERVER, server.key())
                                .put("authorize", url)));
    }

    /// The key of the server that an error is about; empty if it is another error.
    static String server(RpcException error) {
        return error.data().map(data -> data.path(SERVER).asString("")).orElse("");
    }
}
