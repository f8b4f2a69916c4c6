package dev.cay.node.sandbox;

import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Node;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Listeners for sandboxes that ended by themselves. Thread-safe.
final class EndListeners {
    private static final Logger log = LoggerFactory.getLogger(EndListeners.class);

    private final List<Node.EndListener> listeners = new CopyOnWriteArrayList<>();

    void add(Node.EndListener listener) {
        listeners.add(listener);
    }

    /// Calls every listener, also after one failed.
    void tell(SandboxId id, String reason) {
        log.atInfo().addKeyValue("sandbox", id).addKeyValue("reason", reason).log("sandbox ended by itself");
        for (var listener : listeners) {
            try {
                listener.ended(id, reason);
            } catch (RuntimeException e) {
                log.atError()
                        .setCause(e)
                        .addKeyValue("sandbox", id)
                        .log("a listener failed to handle the end of a sandbox");
            }
        }
    }
}
