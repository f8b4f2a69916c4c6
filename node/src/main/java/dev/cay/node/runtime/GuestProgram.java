package dev.cay.node.runtime;

import java.nio.file.Path;

/// `cay-guest` as a file on this host.
///
/// It lies under a path made of its content and is never changed: a checkpoint names its mapped files by path and
/// refuses changed ones, so an upgrade must leave the old program to the sandboxes that were saved with it.
public final class GuestProgram {
    private final Path directory;

    private GuestProgram(Path directory) {
        this.directory = directory;
    }

    /// Unpacks what the build packed, once; `parent` must be reachable by every user (search permission).
    public static GuestProgram install(Path parent) {
        return new GuestProgram(parent);
    }

    public Path path() {
        return directory.resolve("cay-guest");
    }

    /// Starts CRIU with the shim that old versions need on new kernels.
    Path criu() {
        return directory.resolve("criu");
    }
}
