package dev.cay.node.runtime;

import dev.cay.node.host.Slot;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Resources;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The inputs for starting a container.
///
/// @param layers   directories of the template, top first, owned by uid 0 and up
/// @param writable directory with `upper/` and `work/`, from {@link dev.cay.node.storage.Pool#create}
/// @param hostname ignored by a restore, which keeps the saved one
/// @param owner    for a side sandbox, the running sandbox whose cgroup it joins; else null
/// @param mounts   directories mounted inside beside its own files
public record ContainerSpec(
        SandboxId id,
        Slot slot,
        Resources resources,
        int maxProcesses,
        List<Path> layers,
        Path writable,
        String hostname,
        @Nullable SandboxId owner,
        List<Mount> mounts) {
    public ContainerSpec {
        layers = List.copyOf(layers);
        mounts = List.copyOf(mounts);
    }

    /// @param directory of the host, with the ids that a sandbox counts by: 0 is its root
    /// @param target    where it is shown inside
    public record Mount(Path directory, String target, boolean readOnly) {}

    /// A spec of a sandbox that is no side sandbox.
    public ContainerSpec(
            SandboxId id,
            Slot slot,
            Resources resources,
            int maxProcesses,
            List<Path> layers,
            Path writable,
            String hostname) {
        this(id, slot, resources, maxProcesses, layers, writable, hostname, null, List.of());
    }
}
