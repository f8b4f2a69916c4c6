package dev.cay.node.host;

/// What MCP servers of one sandbox may take of this machine, beside what the sandbox itself may.
///
/// @param memoryMB of all of them together
/// @param most     how many of them may run in sandboxes of their own at a time
public record ServerLimits(int memoryMB, int most) {
    public static final ServerLimits DEFAULT = new ServerLimits(1024, 16);
}
