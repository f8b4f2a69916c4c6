package dev.cay.node.files;

/// What a client wants to know of changes in a directory.
record WatchWish(SandboxPath path, boolean recursive, boolean entries, boolean remote) {}
