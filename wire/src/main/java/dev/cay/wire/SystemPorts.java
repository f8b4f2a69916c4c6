package dev.cay.wire;

/// The ports of a sandbox that the platform itself answers. E2B's clients know these numbers.
public final class SystemPorts {
    /// Processes, files and health.
    public static final int ENVD = 49983;

    /// Cells of code, where the sandbox's template has an interpreter.
    public static final int INTERPRETER = 49999;

    /// The gateway to the sandbox's MCP servers.
    public static final int MCP = 50005;

    private SystemPorts() {}
}
