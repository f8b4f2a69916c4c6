package dev.cay.node.storage;

import dev.cay.wire.SandboxId;
import dev.cay.wire.node.DiskShare;
import java.util.HashMap;
import java.util.Map;

/// Divides the rest of a team's share of the pool among the sandboxes that can write.
///
/// The limits of all of them, plus the size of paused sandboxes and snapshots, add up to the share. So they cannot
/// exceed it between two measurements, however fast they write; the next measurement gives unused space to the others.
public final class ShareLimits {
    private ShareLimits() {}

    /// The bytes that a share's sandboxes and snapshots use now.
    ///
    /// @param used  of running sandboxes
    /// @param saved of paused sandboxes, by the names of their snapshots, and of snapshots
    public static long held(DiskShare share, Map<SandboxId, Long> used, Map<String, Long> saved) {
        long held = 0;
        for (var id : share.sandboxes()) {
            held += used.getOrDefault(id, 0L);
        }
        for (var snapshot : saved.entrySet()) {
            if (belongs(share, snapshot.getKey())) {
                held += snapshot.getValue();
            }
        }
        return held;
    }

    private static boolean belongs(DiskShare share, String snapshot) {
        int dot = snapshot.indexOf('.');
        return dot < 0
                ? share.snapshots().contains(snapshot)
                : share.sandboxes().contains(new SandboxId(snapshot.substring(0, dot)));
    }

    /// The limit of each writer of a share.
    ///
    /// @param own the limit of each if there is space
    public static Map<SandboxId, Long> divide(
            DiskShare share, long held, Map<SandboxId, Long> used, Map<SandboxId, Long> own) {
        var limits = new HashMap<>(own);
        limits.keySet().retainAll(share.sandboxes());
        long left = Math.max(0, share.bytes() - held) / Math.max(1, limits.size());
        limits.replaceAll((id, most) -> Math.max(1, Math.min(most, used.getOrDefault(id, 0L) + left)));
        return limits;
    }
}
