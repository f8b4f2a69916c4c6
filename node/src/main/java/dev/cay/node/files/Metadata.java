package dev.cay.node.files;

import dev.cay.node.linux.Attributes;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.ErrnoException;
import java.util.LinkedHashMap;
import java.util.Map;

/// What clients note about a file, kept in its extended attributes.
final class Metadata {
    private static final String PREFIX = "user.e2b.";

    private Metadata() {}

    static Map<String, String> read(Descriptor file) {
        var metadata = new LinkedHashMap<String, String>();
        try {
            for (String name : Attributes.names(file)) {
                if (name.startsWith(PREFIX)) {
                    metadata.put(name.substring(PREFIX.length()), Attributes.read(file, name));
                }
            }
        } catch (ErrnoException _) {
            // A file system without attributes has no metadata.
        }
        return metadata;
    }

    /// Replaces what the file had.
    static void write(Descriptor file, Map<String, String> metadata) throws ErrnoException {
        read(file).keySet().stream().filter(key -> !metadata.containsKey(key)).forEach(key -> {
            try {
                Attributes.remove(file, PREFIX + key);
            } catch (ErrnoException _) {
                // Root inside removed it first.
            }
        });
        for (var item : metadata.entrySet()) {
            Attributes.write(file, PREFIX + item.getKey(), item.getValue());
        }
    }
}
