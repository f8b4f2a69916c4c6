package dev.cay.node.storage;

import dev.cay.node.runtime.GuestProgram;
import dev.cay.wire.SandboxId;
import java.nio.file.Path;
import java.util.List;

/// The disk all sandboxes share: on btrfs one subvolume with a hard limit for each.
///
/// If the state directory lies on btrfs the pool is a directory there; otherwise it is a file of fixed size with a
/// btrfs of its own, mounted through a loop device. Without btrfs the layers are plain directories: no disk limit, and
/// {@link #limited} says so.
public final class Pool {
    private Pool() {}

    /// Makes the pool below `stateDir`, or mounts the one that is there. It stays mounted when the daemon ends.
    ///
    /// @param guest does the system calls of btrfs
    public static Pool open(Path stateDir, int sizeMB, GuestProgram guest) {
        throw new UnsupportedOperationException();
    }

    /// Whether sandboxes are held to their disk size.
    public boolean limited() {
        throw new UnsupportedOperationException();
    }

    /// The pool's directory `name` (`layers`, `snapshots`), made when absent. Only a place: no limit, no subvolume.
    public Path directory(String name) {
        throw new UnsupportedOperationException();
    }

    /// Makes an empty writable layer: a directory with `upper/` and `work/`. Refuses with UNAVAILABLE when the pool is
    /// nearly full.
    public Path create(SandboxId id, int limitMB) {
        throw new UnsupportedOperationException();
    }

    /// The layer's place, whether or not it is there.
    public Path layer(SandboxId id) {
        throw new UnsupportedOperationException();
    }

    /// Makes a new layer with the content of another one, at once and whatever its size. The source must not be
    /// written meanwhile (frozen, or not running).
    public Path copy(SandboxId from, SandboxId to, int limitMB) {
        throw new UnsupportedOperationException();
    }

    /// Unknown ids are fine.
    public void delete(SandboxId id) {
        throw new UnsupportedOperationException();
    }

    /// Every layer there is, for finding those that nobody owns.
    public List<SandboxId> list() {
        throw new UnsupportedOperationException();
    }

    /// Bytes the layer holds, up to some seconds old.
    public long used(SandboxId id) {
        throw new UnsupportedOperationException();
    }

    /// Bytes still free for all.
    public long free() {
        throw new UnsupportedOperationException();
    }

    /// Takes the pool off the host and frees its loop device; content stays. For `down --all`: layers in use refuse it.
    public void unmount() {
        throw new UnsupportedOperationException();
    }
}
