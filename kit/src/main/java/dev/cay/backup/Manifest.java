package dev.cay.backup;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// The first part of a backup: facts about all of it.
///
/// @param version   of the Cay that wrote it
/// @param at        the time of its records
/// @param engine    of the store: `sqlite` or `postgresql`; the records themselves are a SQLite file in either case
/// @param machine   the facts that decide where saved memory can be restored, as the node describes them; null if
///                  memory cannot be saved there
/// @param gateway   the name server address of its sandboxes
/// @param sandboxes how many sandboxes it holds
/// @param leftOut   how many running sandboxes are not in it
/// @param snapshots how many snapshots with a name it holds
/// @param missing   files that records refer to and that its machine had lost
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
