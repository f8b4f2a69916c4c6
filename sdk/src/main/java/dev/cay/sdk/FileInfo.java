package dev.cay.sdk;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// A file or directory in a sandbox.
///
/// @param type          for a link, the type of its target
/// @param mode          the permission bits
/// @param symlinkTarget the target of a link; null for anything else
/// @param metadata      metadata that was set when the file was uploaded
public record FileInfo(
        String name,
        Type type,
        String path,
        long size,
        int mode,
        String permissions,
        String owner,
        String group,
        @Nullable Instant modified,
        @Nullable String symlinkTarget,
        Map<String, String> metadata) {
    /// The type of a file.
    public enum Type {
        FILE,
        DIRECTORY,
        /// A device, a socket, or a link without a target.
        OTHER
    }

    public FileInfo {
        metadata = Map.copyOf(metadata);
    }

    static FileInfo of(JsonNode entry) {
        var modified = entry.path("modifiedTime");
        var target = entry.path("symlinkTarget");
        return new FileInfo(
                entry.path("name").asString(""),
                type(entry.path("type").asString("")),
                entry.path("path").asString(""),
                entry.path("size").asLong(0),
                entry.path("mode").asInt(0),
                entry.path("permissions").asString(""),
                entry.path("owner").asString(""),
                entry.path("group").asString(""),
                modified.isString() ? Instant.parse(modified.asString()) : null,
                target.isString() ? target.asString() : null,
                SandboxInfo.texts(entry.path("metadata")));
    }

    private static Type type(String name) {
        return switch (name) {
            case "FILE_TYPE_FILE" -> Type.FILE;
            case "FILE_TYPE_DIRECTORY" -> Type.DIRECTORY;
            default -> Type.OTHER;
        };
    }
}
