package dev.cay.sdk;

import java.util.Locale;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/// Something that happened in a directory.
///
/// @param name of what it happened to, relative to that directory
public record FileEvent(Type type, String name) {
    private static final String PREFIX = "EVENT_TYPE_";

    /// What happened.
    public enum Type {
        CREATE,
        WRITE,
        REMOVE,
        RENAME,
        CHMOD
    }

    /// Empty for what a newer sandbox may tell.
    static Optional<FileEvent> of(JsonNode event) {
        String type = event.path("type").asString("").toUpperCase(Locale.ROOT);
        for (var known : Type.values()) {
            if (type.equals(PREFIX + known)) {
                return Optional.of(new FileEvent(known, event.path("name").asString("")));
            }
        }
        return Optional.empty();
    }
}
