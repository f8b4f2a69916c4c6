package dev.cay.node.runtime;

import dev.cay.wire.SandboxId;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Starts, ends, saves and restores containers. Thread-safe for different sandboxes; the caller sees to it that there
/// is one call at a time for each.
///
/// Every call has a limit of its own and fails with a {@link dev.cay.wire.CayException} that says what was being done.
public interface ContainerRuntime {
    /// Creates and starts; returns once the guest listens. When it fails, nothing is left behind.
    Container start(ContainerSpec spec);

    /// The container if it is alive: the same process, not another one with its pid.
    Optional<Container> find(SandboxId id);

    /// Every sandbox that left something here, alive, dead or half made; {@link #delete} cleans up after any of them.
    List<SandboxId> list();

    /// Ends all processes, and returns when they are gone. Unknown ids are fine.
    void kill(SandboxId id);

    /// Kills and removes everything the container had: cgroups, link, bundle. Unknown and half made ids are fine. The
    /// writable layer is not touched.
    void delete(SandboxId id);

    /// Stops all processes where they are; memory stays.
    void freeze(SandboxId id);

    void thaw(SandboxId id);

    /// Writes all processes to `images`, an absent or empty directory. A connection to the guest must be closed first.
    ///
    /// @param after what becomes of the original; if the dump fails it always goes on as before
    void checkpoint(SandboxId id, Path images, After after);

    /// Starts a container from what {@link #checkpoint} wrote, in the same slot or another one. The id must not be
    /// in use; images are only read, so several may be started from them. Its layers must be as they were.
    ///
    /// @param guest that of the container which was saved, from {@link #guest}
    Container restore(ContainerSpec spec, Path images, String guest);

    /// Which version of the guest a container runs.
    String guest(SandboxId id);

    /// Waits until nobody works on the container whom an earlier daemon told to: a dump or a restore that was under way
    /// is best left to end by itself. What does not end is ended.
    void settle(SandboxId id);

    /// Lets a container that was being saved go on, whatever became of that: settles, takes away what a killed dump
    /// leaves, thaws.
    ///
    /// @return nothing when it is gone
    Optional<Container> goOn(SandboxId id);

    /// Reads what the container uses now, and shows it inside as `/proc/meminfo`.
    Usage usage(Container container);

    /// How many of its processes the kernel has killed for lack of memory since it started; 0 for unknown ids.
    long memoryKills(SandboxId id);

    /// The same of the side sandboxes of a sandbox that are there now, by their names.
    Map<String, Long> serverMemoryKills(SandboxId owner);

    /// What a checkpoint does with the original.
    enum After {
        /// It is ended and removed, as by {@link #delete}.
        END,
        /// It stays; frozen if it was frozen before.
        STAY
    }
}
