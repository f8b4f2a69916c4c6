package dev.cay.node.watch;

import dev.cay.node.files.SandboxPath;

/// A client's request to watch a directory.
record WatchWish(SandboxPath path, boolean recursive, boolean entries, boolean remote) {}
