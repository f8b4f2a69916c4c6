package dev.cay.node.process;

/// Somebody who follows a process's output.
public final class Subscription implements AutoCloseable {
    Subscription() {}

    public SandboxProcess process() {
        throw new UnsupportedOperationException();
    }

    /// Unsubscribes; the process runs on.
    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
