package dev.cay.proxy;

import dev.cay.http.Exchange;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.util.HashMap;
import java.util.Map;

/// Limits how many bodies are held in memory because placeholders in them are replaced. Thread-safe.
final class BodyRoom {
    /// A larger body passes as it is.
    static final int MOST_BYTES = 1 << 20;

    private static final int MOST = 64;
    private static final int MOST_OF_ONE = 8;

    private final Map<SandboxId, Integer> bySandbox = new HashMap<>();
    private int all;

    /// Takes memory until the end of the exchange.
    void take(Exchange exchange, SandboxId sandbox) {
        add(sandbox);
        exchange.onEnd(() -> remove(sandbox));
    }

    private synchronized void add(SandboxId sandbox) {
        int own = bySandbox.getOrDefault(sandbox, 0);
        if (own >= MOST_OF_ONE || all >= MOST) {
            throw new CayException(
                    ErrorKind.EXHAUSTED,
                    "too many requests at once whose bodies have placeholders replaced: a sandbox may have %d; try again"
                            .formatted(MOST_OF_ONE));
        }
        bySandbox.put(sandbox, own + 1);
        all++;
    }

    private synchronized void remove(SandboxId sandbox) {
        bySandbox.computeIfPresent(sandbox, (_, own) -> own == 1 ? null : own - 1);
        all--;
    }
}
