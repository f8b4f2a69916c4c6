package dev.cay.server.edge;

import dev.cay.http.Exchange;
import dev.cay.wire.SandboxAddress;

/// The data path into sandboxes: every request for `{port}-{sandboxId}` ends here, only the last hop differs.
///
/// The node answers system ports itself and passes all others on to the server inside.
public interface SandboxPorts {
    void handle(SandboxAddress address, Exchange exchange) throws Exception;
}
