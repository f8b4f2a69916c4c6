package dev.cay.node.watch;

import dev.cay.node.files.SandboxPath;

/// What a client wants to know of changes in a directory.
record WatchWish(SandboxPath path, boolean recursive, boolean entries, boolean remote) {}
