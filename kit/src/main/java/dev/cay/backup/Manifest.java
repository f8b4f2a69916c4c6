package dev.cay.backup;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// What a backup is of. The first part.
///
/// @param version   of the Cay that wrote it
/// @param at        the moment that its records are of
/// @param engine    of the store: `sqlite` or `postgresql`; the records themselves are a SQLite file in either case
/// @param machine   what memory depends on, as the node describes it; null if memory cannot be saved there
/// @param gateway   address that its sandboxes ask for names
/// @param sandboxes how many sandboxes it holds
/// @param leftOut   how many sandboxes ran and are not in it
/// @param snapshots how many snapshots with a name it holds
/// @param missing   what records refer to and its machine had lost
public record Manifest(
        String version,
        Instant at,
        String engine,
        @Nullable JsonNode machine,
        String gateway,
        int sandboxes,
        int leftOut,
        int snapshots,
        List<String> missing) {
    public static final String NAME = "manifest";

    public Manifest {
        missing = List.copyOf(missing);
    }
}
