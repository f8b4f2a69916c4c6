package dev.cay.sdk;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// A file, directory or link of a volume. For a link, all values are about the link itself.
///
/// @param path   absolute path; `/` is the root of the volume
/// @param mode   permissions
/// @param target the target of a link; null for anything else
public record VolumeEntry(
        String name,
        Type type,
        String path,
        long size,
        int mode,
        int uid,
        int gid,
        Instant modified,
        @Nullable String target) {
    public enum Type {
        FILE,
        DIRECTORY,
        SYMLINK,
        UNKNOWN
    }

    static VolumeEntry of(JsonNode json) {
        return new VolumeEntry(
                json.path("name").asString(),
                switch (json.path("type").asString("")) {
                    case "file" -> Type.FILE;
                    case "directory" -> Type.DIRECTORY;
                    case "symlink" -> Type.SYMLINK;
                    default -> Type.UNKNOWN;
                },
                json.path("path").asString(),
                json.path("size").asLong(0),
                json.path("mode").asInt(0),
                json.path("uid").asInt(0),
                json.path("gid").asInt(0),
                Instant.parse(json.path("mtime").asString("1970-01-01T00:00:00Z")),
                json.path("target").isString() ? json.path("target").asString() : null);
    }
}
