package dev.cay.node.sandbox;

import dev.cay.node.host.Mounts;
import dev.cay.node.host.Slot;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Adopts what an earlier daemon left, then repairs periodically: firewall rules that others removed, sandboxes that
/// could not be ended, unclaimed resources, snapshots of paused sandboxes.
final class Upkeep implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Upkeep.class);
    private static final Duration AFTER_CRASH = Duration.ofSeconds(5);
    private static final Duration EVERY = Duration.ofSeconds(30);

    private final HostParts host;
    private final SavedParts saved;
    private final SandboxTable table;
    private final SideSandboxes sides;
    private final PausedSandboxes paused;
    private final Starts starts;
    private final Sweep sweep;
    private @Nullable Thread thread;

    Upkeep(
            HostParts host,
            SavedParts saved,
            SandboxTable table,
            SideSandboxes sides,
            PausedSandboxes paused,
            Starts starts) {
        this.host = host;
        this.saved = saved;
        this.table = table;
        this.sides = sides;
        this.paused = paused;
        this.starts = starts;
        this.sweep = new Sweep(host, saved, id -> table.get(id) != null || sides.has(id), this::slots);
    }

    /// Adopts or removes what an earlier daemon left, then begins the periodic work.
    void start() {
        Mounts.unmountBelow(host.pool().directory("sandboxes"));
        saved.sealed().clear();
        var leftSpares = new Recovery(host, saved, this::adopt).all();
        host.network().removeOrphans(slots());
        paused.tidy();
        thread = Thread.ofVirtual().name("upkeep").start(() -> keepUp(leftSpares));
    }

    private SandboxKeeper adopt(Leftovers.Found found) {
        var notes = Objects.requireNonNull(found.notes());
        return notes.isSide() ? sides.keep(found) : starts.adopt(found, notes);
    }

    /// Those of all sandboxes that have one.
    private List<Slot> slots() {
        var own = table.all().stream().map(SandboxKeeper::slot).filter(Objects::nonNull);
        return Stream.concat(own, sides.slots()).toList();
    }

    @Override
    public void close() {
        if (thread != null) {
            thread.interrupt();
        }
    }

    /// @param leftSpares spare sandboxes that an earlier daemon left, to be replaced
    private void keepUp(List<SandboxId> leftSpares) {
        try {
            if (!leftSpares.isEmpty()) {
                // After a crash those who were cut come back at once, and shall not wait for the making of spares.
                Thread.sleep(AFTER_CRASH);
                attempt("the last daemon's spare sandboxes", () -> ForEachSandbox.each(leftSpares, table::kill));
            }
            starts.spares().start();
            while (true) {
                Thread.sleep(EVERY);
                tidy();
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    void tidy() {
        attempt("the network", host.network()::heal);
        attempt("ending sandboxes", () -> ForEachSandbox.each(table.ids(SandboxKeeper::isEnding), table::kill));
        attempt("leftovers on the host", sweep::lookAgain);
        attempt("spare sandboxes", starts.spares()::tidy);
        attempt("snapshots", this::lookAfterPaused);
    }

    private void lookAfterPaused() {
        sides.lookAfter();
        paused.lookAfter();
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
