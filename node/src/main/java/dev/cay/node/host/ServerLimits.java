package dev.cay.node.host;

/// Limits of one sandbox's MCP servers, beside the limits of the sandbox itself.
///
/// @param memoryMB of all of them together
/// @param most     most of them that run in side sandboxes at a time
public record ServerLimits(int memoryMB, int most) {
    public static final ServerLimits DEFAULT = new ServerLimits(1024, 16);
}
