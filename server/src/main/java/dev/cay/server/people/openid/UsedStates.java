package dev.cay.server.people.openid;

import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/// Which sign-ins browsers have come back from: each state is good once, so that no browser makes Cay ask the issuer
/// again and again. Thread-safe.
final class UsedStates {
    /// Beyond that the oldest are forgotten, of which a second use fails at the issuer.
    private static final int MOST = 50_000;

    private final InstantSource clock;
    private final SequencedMap<String, Instant> ends = new LinkedHashMap<>();

    UsedStates(InstantSource clock) {
        this.clock = clock;
    }

    /// @return whether this is the first use
    synchronized boolean use(Handshake handshake) {
        var now = clock.instant();
        while (!ends.isEmpty()
                && (ends.size() >= MOST || !ends.firstEntry().getValue().isAfter(now))) {
            ends.pollFirstEntry();
        }
        return ends.putIfAbsent(handshake.nonce(), handshake.end()) == null;
    }
}
