package dev.cay.server.edge;

import dev.cay.http.Exchange;
import dev.cay.wire.SandboxAddress;

/// The data path into sandboxes: whatever arrives for `{port}-{sandboxId}` ends here, only the last hop differs.
///
/// System ports are answered by the node itself, all others are passed on to the server inside.
public interface SandboxPorts {
    void handle(SandboxAddress address, Exchange exchange) throws Exception;
}
