package dev.cay.node.files;

import dev.cay.node.linux.Attributes;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.EntryReader;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Clients' metadata of a file, kept in its extended attributes.
final class Metadata {
    private static final String PREFIX = "user.e2b.";

    private Metadata() {}

    static Map<String, String> read(Descriptor file) {
        return read(() -> Attributes.names(file), name -> Attributes.read(file, name));
    }

    static Map<String, String> read(EntryReader reader, Descriptor directory, String entry) {
        return read(() -> reader.attributes(directory, entry), name -> Attributes.read(directory, entry, name));
    }

    private interface Names {
        List<String> list() throws ErrnoException;
    }

    private interface Values {
        String of(String name) throws ErrnoException;
    }

    private static Map<String, String> read(Names names, Values values) {
        try {
            var all = names.list();
            if (all.isEmpty()) {
                return Map.of();
            }
            var metadata = new LinkedHashMap<String, String>();
            for (String name : all) {
                if (name.startsWith(PREFIX)) {
                    metadata.put(name.substring(PREFIX.length()), values.of(name));
                }
            }
            return metadata;
        } catch (ErrnoException _) {
            // A file system without attributes has no metadata.
            return Map.of();
        }
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
            try {
                Attributes.write(file, PREFIX + item.getKey(), item.getValue());
            } catch (ErrnoException e) {
                if (e.errno() != Errno.EOPNOTSUPP) {
                    throw e;
                }
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT, "the file system there keeps no metadata: write without", e);
            }
        }
    }
}
