package dev.cay.node.storage;

import dev.cay.wire.SandboxId;
import dev.cay.wire.node.DiskShare;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Divides the rest of a share of the pool, of a team or an API key, among the sandboxes that can write.
///
/// The limits of all of them, plus the size of paused sandboxes and snapshots, add up to the share. So they cannot
/// exceed it between two measurements, however fast they write; the next measurement gives unused space to the others.
public final class ShareLimits {
    private ShareLimits() {}

    /// Shares divided.
    ///
    /// @param held   bytes of each share, in their order
    /// @param limits of all writers
    public record Divided(List<Long> held, Map<SandboxId, Long> limits) {
        public Divided {
            held = List.copyOf(held);
            limits = Map.copyOf(limits);
        }
    }

    /// Divides all shares. For a writer that is in several the lowest limit holds.
    ///
    /// @param used  of running sandboxes
    /// @param saved of paused sandboxes, by the names of their snapshots, and of snapshots
    /// @param own   the limit of each writer if there is space
    public static Divided divide(
            List<DiskShare> shares, Map<SandboxId, Long> used, Map<String, Long> saved, Map<SandboxId, Long> own) {
        var all = new ArrayList<Long>();
        var limits = new HashMap<SandboxId, Long>();
        for (var share : shares) {
            long held = held(share, used, saved);
            all.add(held);
            divide(share, held, used, own).forEach((id, most) -> limits.merge(id, most, Math::min));
        }
        return new Divided(all, limits);
    }

    /// The bytes that a share's sandboxes and snapshots use now.
    static long held(DiskShare share, Map<SandboxId, Long> used, Map<String, Long> saved) {
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
    static Map<SandboxId, Long> divide(
            DiskShare share, long held, Map<SandboxId, Long> used, Map<SandboxId, Long> own) {
        var limits = new HashMap<>(own);
        limits.keySet().retainAll(share.sandboxes());
        long left = Math.max(0, share.bytes() - held) / Math.max(1, limits.size());
        limits.replaceAll((id, most) -> Math.max(1, Math.min(most, used.getOrDefault(id, 0L) + left)));
        return limits;
    }
}
