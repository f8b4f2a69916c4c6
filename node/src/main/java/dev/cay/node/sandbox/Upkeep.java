package dev.cay.node.sandbox;

import dev.cay.node.network.NetworkPool;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Periodic repairs: firewall rules that others removed, sandboxes that could not be ended, unclaimed resources.
final class Upkeep implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Upkeep.class);
    private static final Duration AFTER_CRASH = Duration.ofSeconds(5);
    private static final Duration EVERY = Duration.ofSeconds(30);

    private final NetworkPool network;
    private final Sweep sweep;
    private final Spares spares;
    private final Supplier<List<SandboxId>> ending;
    private final Consumer<SandboxId> kill;
    private final Runnable saved;
    private final Thread thread;

    /// @param leftSpares spare sandboxes that an earlier daemon left, to be replaced
    /// @param ending     sandboxes whose end was requested and whose resources are not all removed
    /// @param saved      looks after snapshots of sandboxes
    Upkeep(
            NetworkPool network,
            Sweep sweep,
            Spares spares,
            List<SandboxId> leftSpares,
            Supplier<List<SandboxId>> ending,
            Consumer<SandboxId> kill,
            Runnable saved) {
        this.network = network;
        this.sweep = sweep;
        this.spares = spares;
        this.ending = ending;
        this.kill = kill;
        this.saved = saved;
        this.thread = Thread.ofVirtual().name("upkeep").unstarted(() -> keepUp(leftSpares));
    }

    void start() {
        thread.start();
    }

    @Override
    public void close() {
        thread.interrupt();
    }

    private void keepUp(List<SandboxId> leftSpares) {
        try {
            if (!leftSpares.isEmpty()) {
                // After a crash those who were cut come back at once, and shall not wait for the making of spares.
                Thread.sleep(AFTER_CRASH);
                attempt("the last daemon's spare sandboxes", () -> ForEachSandbox.each(leftSpares, kill));
            }
            spares.start();
            while (true) {
                Thread.sleep(EVERY);
                tidy();
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    void tidy() {
        attempt("the network", network::heal);
        attempt("ending sandboxes", () -> ForEachSandbox.each(ending.get(), kill));
        attempt("leftovers on the host", sweep::lookAgain);
        attempt("spare sandboxes", spares::tidy);
        attempt("snapshots", saved);
    }

    /// Runs one task; its failure stops neither the others nor the next round.
    private static void attempt(String what, Runnable work) {
        try {
            work.run();
        } catch (RuntimeException e) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("what", what)
                    .log("a maintenance task failed; the next round tries again");
        }
    }
}
