package dev.cay.sdk;

import java.util.Locale;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/// A change in a directory.
///
/// @param name the changed file, relative to the directory
public record FileEvent(Type type, String name) {
    private static final String PREFIX = "EVENT_TYPE_";

    /// The kind of change.
    public enum Type {
        CREATE,
        WRITE,
        REMOVE,
        RENAME,
        CHMOD
    }

    /// Empty for a kind of event that this version does not know.
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
