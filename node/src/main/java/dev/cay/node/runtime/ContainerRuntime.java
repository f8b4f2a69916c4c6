package dev.cay.node.runtime;

import dev.cay.wire.SandboxId;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Starts, ends, saves and restores containers. Thread-safe for different sandboxes; the caller allows one call at a
/// time for each.
///
/// Every call has a time limit and fails with a {@link dev.cay.wire.CayException} that says what was being done.
public interface ContainerRuntime {
    /// Creates and starts; returns once the guest listens. When it fails, nothing is left behind.
    Container start(ContainerSpec spec);

    /// The container if it is alive: the same process, not another one with its pid.
    Optional<Container> find(SandboxId id);

    /// Every sandbox that has resources here, running, dead or incomplete; {@link #delete} cleans up after any of them.
    List<SandboxId> list();

    /// Ends all processes, and returns when they are gone. Unknown ids are ignored.
    void kill(SandboxId id);

    /// Kills and removes everything the container had: cgroups, link, bundle. Unknown and half made ids are fine. The
    /// writable layer is not touched.
    void delete(SandboxId id);

    /// Stops all processes where they are; memory stays.
    void freeze(SandboxId id);

    /// Memory of a frozen container may be written to the swap until it is thawed. It comes back as it is touched.
    void allowSwap(SandboxId id);

    /// Has the kernel write the memory of a container to the swap, as far as that is allowed and has room. Takes
    /// seconds;
    /// on any thread, also while the container is thawed.
    void pushOut(SandboxId id);

    /// Lets them go on. Refuses one some of whose memory is lost: it would find zeros in its place.
    void thaw(SandboxId id);

    /// Writes all processes to `images`, an absent or empty directory. A connection to the guest must be closed first.
    /// Waits until the memory of the container is in.
    ///
    /// @param after what happens to the original; after a failed dump it always continues as before
    void checkpoint(SandboxId id, Path images, After after);

    /// Has checkpoints of a container fail soon, also one that is being made, until it is thawed or told to {@link
    /// #stay}.
    /// It is as before then. On any thread; unknown ids are ignored.
    void giveUpCheckpoint(SandboxId id);

    /// Refuses as CONFLICT or NOT_SAVED what {@link #checkpoint} would refuse before it begins.
    void requireSavable(SandboxId id);

    /// Starts a container from what {@link #checkpoint} wrote, in the same slot or another one. The id must not be
    /// in use; images are only read, so several may be started from them. Its layers must be as they were.
    ///
    /// @param guest that of the container which was saved, from {@link #guest}
    Container restore(ContainerSpec spec, Path images, String guest);

    /// Whether the memory in these images can be brought in while the container runs, and is large enough for that.
    boolean fills(Path images);

    /// The same as {@link #restore}, but returns without the memory, which is brought in while the container runs. The
    /// images must stay as they are while {@link #fill} says so.
    ///
    /// @param first the list of pages that a restore from such images touched, if there is one
    Container restoreLazily(ContainerSpec spec, Path images, String guest, Optional<Path> first);

    /// How far the memory of a container is in. What is lost must be ended.
    Fill fill(SandboxId id);

    /// Which version of the guest a container runs.
    String guest(SandboxId id);

    /// Waits for dumps and restores that an earlier daemon started: they are best left to end by themselves. Ends those
    /// that do not.
    void settle(SandboxId id);

    /// Lets a container whose save was interrupted continue: waits, cleans up after a killed dump, thaws.
    ///
    /// @return empty when it does not exist any more
    Optional<Container> goOn(SandboxId id);

    /// The same for a container that stays frozen.
    ///
    /// @return empty when it does not exist any more
    Optional<Container> stay(SandboxId id);

    /// Reads what the container uses now, and shows it inside as `/proc/meminfo`.
    Usage usage(Container container);

    /// The number of its processes that the kernel has killed for lack of memory since it started; 0 for unknown ids.
    long memoryKills(SandboxId id);

    /// The same for each current side sandbox of a sandbox, by name.
    Map<String, Long> serverMemoryKills(SandboxId owner);

    /// What a checkpoint does with the original.
    enum After {
        /// It is ended and removed, as by {@link #delete}.
        END,
        /// It stays; frozen if it was frozen before.
        STAY,
        /// The same, but nobody waits for the dump: it runs behind the other work of the machine.
        STAY_PAUSED
    }
}
