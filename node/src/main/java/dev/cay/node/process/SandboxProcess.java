package dev.cay.node.process;

/// A process of a sandbox that was started through its table.
public final class SandboxProcess {
    SandboxProcess() {}

    public int pid() {
        throw new UnsupportedOperationException();
    }
}
