package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.cay.wire.node.VolumeEntry;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// A file, directory or link of a volume, as clients see it.
@JsonInclude(JsonInclude.Include.NON_NULL)
public record VolumeEntryStat(
        String name,
        String type,
        String path,
        long size,
        int mode,
        int uid,
        int gid,
        Instant atime,
        Instant mtime,
        Instant ctime,
        @Nullable String target) {
    public static VolumeEntryStat of(VolumeEntry entry) {
        return new VolumeEntryStat(
                entry.name(),
                entry.type().name().toLowerCase(Locale.ROOT),
                entry.path(),
                entry.size(),
                entry.mode(),
                entry.uid(),
                entry.gid(),
                entry.accessed(),
                entry.modified(),
                entry.changed(),
                entry.target());
    }
}
