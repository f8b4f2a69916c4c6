package dev.cay.node.guest;

/// How a process ended.
///
/// @param code   its exit status, or -1 when a signal killed it
/// @param signal what killed it, or 0
public record Exit(int code, int signal, boolean coreDumped) {}
