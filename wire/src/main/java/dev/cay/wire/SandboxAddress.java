package dev.cay.wire;

/// A port of a sandbox, as a host name like `3000-i3kq0x9v2m5b7c1d4e6f8.cay.localhost` names it.
public record SandboxAddress(SandboxId sandbox, int port) {}
