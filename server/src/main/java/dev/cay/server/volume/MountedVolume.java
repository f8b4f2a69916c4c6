package dev.cay.server.volume;

import dev.cay.server.store.JsonColumn;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.VolumeMount;
import dev.cay.wire.rest.SandboxVolumeMount;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A volume at a place in a sandbox, as the records of sandboxes and snapshots tell.
///
/// @param name what the volume is called, which never changes
public record MountedVolume(VolumeId volume, String name, String path, boolean readOnly) {
    /// The JSON for the store; null for none.
    public static @Nullable String column(List<MountedVolume> mounted) {
        return mounted.isEmpty() ? null : JsonColumn.write(mounted);
    }

    public static List<MountedVolume> inColumn(@Nullable String json) {
        return json == null ? List.of() : List.of(JsonColumn.read(json, MountedVolume[].class));
    }

    public VolumeMount onNode() {
        return new VolumeMount(volume, path, readOnly);
    }

    public SandboxVolumeMount shown() {
        return new SandboxVolumeMount(name, path, readOnly ? true : null);
    }
}
