package dev.cay.http;

/// What the edge says instead of a sandbox: JSON for clients, a page for browsers.
///
/// Clients depend on these: only 502 means "the sandbox is gone" to them.
public final class EdgeAnswers {
    private EdgeAnswers() {}

    /// 502 `The sandbox was not found`.
    public static void sandboxNotFound(Exchange exchange, String sandboxId) {
        throw new UnsupportedOperationException();
    }

    /// 502 `The sandbox is running but port is not open`.
    public static void portClosed(Exchange exchange, SandboxAddress address) {
        throw new UnsupportedOperationException();
    }

    /// 403 that names the header `e2b-traffic-access-token`.
    public static void trafficTokenNeeded(Exchange exchange, String sandboxId) {
        throw new UnsupportedOperationException();
    }
}
