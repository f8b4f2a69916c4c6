package dev.cay.node.files;

import dev.cay.node.linux.HostThreads;
import java.io.IOException;

/// The files of one sandbox, below the root of its pid 1. Thread-safe.
///
/// Keeps the sandbox's file systems busy: close it before a checkpoint and before the sandbox's disk is taken away.
public final class FileTree implements AutoCloseable {
    /// @param pid     of the sandbox's pid 1, as the host sees it
    /// @param uidBase first host uid of the sandbox
    /// @param threads for file work; shared by all trees
    public static FileTree open(long pid, int uidBase, HostThreads threads) throws IOException {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
