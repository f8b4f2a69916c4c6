package dev.cay.wire.node;

import java.util.List;

/// The egress log of a sandbox.
///
/// @param entries those seen last first
/// @param dropped how many entries there were that had to make room for others
public record EgressSeen(List<EgressEntry> entries, long dropped) {
    /// Nothing was seen.
    public static final EgressSeen NOTHING = new EgressSeen(List.of(), 0);

    public EgressSeen {
        entries = List.copyOf(entries);
    }
}
