package dev.cay.node.log;

import dev.cay.wire.SandboxId;
import dev.cay.wire.node.LogLine;
import dev.cay.wire.node.Node;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/// Collects the log lines of all sandboxes. Thread-safe.
public final class LogHub {
    private final InstantSource clock;
    private final List<Node.LogListener> listeners = new CopyOnWriteArrayList<>();

    public LogHub(InstantSource clock) {
        this.clock = clock;
    }

    public void listen(Node.LogListener listener) {
        listeners.add(listener);
    }

    public SandboxLog of(SandboxId id) {
        return new SandboxLog(id, clock, this::tell);
    }

    private void tell(SandboxId id, LogLine line) {
        listeners.forEach(listener -> listener.logged(id, line));
    }
}
