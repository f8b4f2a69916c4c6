package dev.cay.node.sandbox;

import dev.cay.http.EdgeAnswers;
import dev.cay.http.Exchange;
import dev.cay.node.runtime.Container;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// What the node has open of a sandbox, if it runs. Opened and closed by its keeper; traffic passes meanwhile.
final class Doors {
    private final Machine machine;
    private final Premises premises;
    private final Runnable lost;
    private volatile @Nullable OpenSandbox open;

    /// @param lost runs when the guest went away by itself; must not block
    Doors(Machine machine, Premises premises, Runnable lost) {
        this.machine = machine;
        this.premises = premises;
        this.lost = lost;
    }

    void open(Container container) throws IOException {
        open = new OpenSandbox(machine, premises.notes().spec(), premises.requireSlot(), container, lost);
    }

    void close() {
        var now = open;
        open = null;
        if (now != null) {
            now.close();
        }
    }

    /// At once and from any thread, so that clients who are cut find the sandbox gone when they look.
    void refuse() {
        var now = open;
        if (now != null) {
            now.refuse();
        }
    }

    Optional<OpenSandbox> now() {
        return Optional.ofNullable(open);
    }

    void serve(int port, Exchange exchange) throws Exception {
        SandboxId id = premises.notes().spec().id();
        var now = open;
        if (now == null || premises.notes().spare()) {
            EdgeAnswers.sandboxNotFound(exchange, id.value());
            return;
        }
        now.serve(port, exchange);
    }
}
