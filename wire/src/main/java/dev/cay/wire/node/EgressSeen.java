package dev.cay.wire.node;

import java.util.List;

/// The egress log of a sandbox.
///
/// @param entries the latest first
/// @param dropped how many entries were removed at the limit
public record EgressSeen(List<EgressEntry> entries, long dropped) {
    /// An empty log.
    public static final EgressSeen NOTHING = new EgressSeen(List.of(), 0);

    public EgressSeen {
        entries = List.copyOf(entries);
    }
}
