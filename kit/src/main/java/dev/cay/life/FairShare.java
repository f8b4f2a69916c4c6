package dev.cay.life;

import java.util.HashMap;
import java.util.Map;

/// Divides a number of places among owners without keeping any for anybody: an owner gets one more while it has fewer
/// than are free. So one owner alone gets half of the places, several get equal parts, and one that comes later finds a
/// place. Thread-safe.
public final class FairShare {
    private final int places;

    // Guarded by this.
    private final Map<String, Integer> taken = new HashMap<>();
    private int all;

    public FairShare(int places) {
        this.places = places;
    }

    /// Takes a place.
    ///
    /// @return false if the owner has its share
    public synchronized boolean enter(String owner) {
        int own = taken.getOrDefault(owner, 0);
        if (own >= places - all) {
            return false;
        }
        taken.put(owner, own + 1);
        all++;
        return true;
    }

    /// Gives a place back, which this owner took.
    public synchronized void leave(String owner) {
        Integer own = taken.remove(owner);
        if (own == null) {
            return;
        }
        if (own > 1) {
            taken.put(owner, own - 1);
        }
        all--;
    }
}
