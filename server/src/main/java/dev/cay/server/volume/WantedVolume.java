package dev.cay.server.volume;

import dev.cay.server.request.RequestBody;
import dev.cay.wire.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// An existing volume of the team that a client requests in a new sandbox.
///
/// @param readOnly null where the client does not say
public record WantedVolume(
        VolumeId volume, String name, String path, @Nullable Boolean readOnly) {
    /// The mounts of a sandbox that starts cold.
    public static List<MountedVolume> mounted(List<WantedVolume> wanted) {
        return wanted.stream()
                .map(one -> one.mounted(Boolean.TRUE.equals(one.readOnly)))
                .toList();
    }

    /// The mounts of a sandbox that starts from a snapshot. Its processes have files open below the old paths, so paths
    /// and permissions must stay the same.
    ///
    /// @param before the mounts of the snapshot
    public static List<MountedVolume> mounted(List<WantedVolume> wanted, List<MountedVolume> before) {
        var places = before.stream().collect(Collectors.toMap(MountedVolume::path, Function.identity()));
        var paths = wanted.stream().map(WantedVolume::path).collect(Collectors.toSet());
        if (!paths.equals(places.keySet())) {
            String known = before.stream().map(MountedVolume::path).sorted().collect(Collectors.joining(", "));
            throw RequestBody.invalid(
                    before.isEmpty()
                            ? "'volumeMounts' must be empty: the snapshot was taken without volumes"
                            : "'volumeMounts' must name a volume for each of these paths and for no other, as the snapshot was taken with volumes there: "
                                    + known);
        }
        var mounted = new ArrayList<MountedVolume>();
        for (var one : wanted) {
            boolean was = Objects.requireNonNull(places.get(one.path)).readOnly();
            if (one.readOnly != null && one.readOnly != was) {
                throw RequestBody.invalid("'volumeMounts' has %s as %s, but the snapshot was taken with it as %s"
                        .formatted(one.path, word(one.readOnly), word(was)));
            }
            mounted.add(one.mounted(was));
        }
        return mounted;
    }

    private static String word(boolean readOnly) {
        return readOnly ? "read-only" : "writable";
    }

    private MountedVolume mounted(boolean only) {
        return new MountedVolume(volume, name, path, only);
    }
}
