package dev.cay.node.sandbox;

import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.SandboxKind;
import dev.cay.wire.node.SandboxSpec;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sandboxes that are started in advance, so that creates need not wait. Thread-safe.
///
/// The number of spares of a kind follows recent demand. One is made at a time, and none while a client waits for a
/// sandbox that is being started, so spares never slow clients down. With nothing to make or to end, no thread runs.
final class Spares implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Spares.class);

    /// Fewest spares of an expected kind, even without recent demand.
    private static final int FEWEST = 4;

    /// The same for a kind that costs much memory, and the factor by which there are fewer of it.
    private static final int FEWEST_COSTLY = 2;

    private static final int COSTLY = 4;

    /// Over about this time the number of asked ones is counted.
    private static final Duration MEMORY = Duration.ofSeconds(30);

    /// Pause after a spare was given out: its client runs a command next, which the making of another one shall not
    /// delay.
    private static final Duration COURTESY = Duration.ofMillis(40);

    private static final Duration BUSY_PAUSE = Duration.ofMillis(20);
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    /// An id that was asked for and then not used within this time is forgotten.
    private static final Duration RESERVATION = Duration.ofMinutes(2);

    /// Starts and ends sandboxes without an owner.
    interface Maker extends AutoCloseable {
        /// Sees to it that the next ones of this kind are made fast.
        ///
        /// @param then runs when all is done for that, maybe before this returns
        void warm(SandboxKind kind, Runnable then);

        SandboxId make(SandboxKind kind);

        void end(SandboxId id);

        /// Stops making warm snapshots.
        @Override
        void close();
    }

    /// The spec of a sandbox without an owner; its owner's settings come when it is given out.
    static SandboxSpec nobodys(SandboxId id, SandboxKind kind) {
        return new SandboxSpec(
                id,
                kind.templateId(),
                kind.layers(),
                kind.resources(),
                Map.of(),
                null,
                "root",
                null,
                Egress.open(),
                kind.snapshot());
    }

    /// The spares of one kind. Guarded by the spares.
    private static final class Stock {
        private final ArrayDeque<SandboxId> ready = new ArrayDeque<>();
        private final boolean costly;
        private boolean expected;
        private double asked;
        private long askedAt;
        private Duration pause = Duration.ZERO;
        private long notBefore;

        private Stock(boolean costly) {
            this.costly = costly;
        }

        private void ask(long now) {
            asked = recently(now) + 1;
            askedAt = now;
        }

        private double recently(long now) {
            return asked == 0 ? 0 : asked * Math.exp((askedAt - now) / (double) MEMORY.toNanos());
        }

        private int wanted(long now, int most) {
            int bound = costly ? Math.max(Math.min(most, FEWEST_COSTLY), most / COSTLY) : most;
            int fewest = costly ? FEWEST_COSTLY : FEWEST;
            return Math.min(bound, (expected ? fewest : 0) + (int) Math.round(recently(now) / 2));
        }
    }

    private final int most;
    private final Maker maker;
    private final BooleanSupplier busy;
    private final Predicate<SandboxKind> costly;
    private final LongSupplier nanos;
    private final Map<SandboxKind, Stock> stocks = new HashMap<>();
    private final Map<SandboxId, Long> reserved = new HashMap<>();
    private @Nullable Thread worker;
    private boolean closed;

    /// @param most   most spares of one kind; 0 means none at all
    /// @param busy   whether a client waits for a sandbox to start
    /// @param costly whether one of a kind takes much more memory than others before it is used
    /// @param nanos  the time, as {@link System#nanoTime} returns it
    Spares(int most, Maker maker, BooleanSupplier busy, Predicate<SandboxKind> costly, LongSupplier nanos) {
        this.most = most;
        this.maker = maker;
        this.busy = busy;
        this.costly = costly;
        this.nanos = nanos;
    }

    synchronized void start() {
        if (most > 0 && !closed) {
            worker = Thread.ofVirtual().name("spares").start(this::work);
        }
    }

    /// Like {@link #expect}, once a warm snapshot of this kind exists. Waiting spares are replaced.
    void prepare(SandboxKind kind) {
        maker.warm(kind, () -> {
            expect(kind);
            renew(kind);
        });
    }

    /// Has a warm snapshot of this kind made, whether or not there is demand.
    void warm(SandboxKind kind) {
        maker.warm(kind, () -> {});
    }

    /// Sandboxes of this kind will be asked for; others of the same template will not any more.
    synchronized void expect(SandboxKind kind) {
        stocks.forEach((other, stock) -> {
            if (other.templateId().equals(kind.templateId())) {
                stock.expected = false;
            }
        });
        stock(kind).expected = true;
        notifyAll();
    }

    /// Ends waiting spares of this kind, because faster ones can be made now.
    void renew(SandboxKind kind) {
        List<SandboxId> old;
        synchronized (this) {
            var stock = stock(kind);
            old = List.copyOf(stock.ready);
            stock.ready.clear();
            notifyAll();
        }
        endAll(old);
    }

    /// Forgets the kinds that start from this snapshot, which is deleted.
    void drop(String snapshot) {
        var old = new ArrayList<SandboxId>();
        synchronized (this) {
            stocks.entrySet().removeIf(entry -> {
                boolean gone = snapshot.equals(entry.getKey().snapshot());
                if (gone) {
                    old.addAll(entry.getValue().ready);
                }
                return gone;
            });
            notifyAll();
        }
        endAll(old);
    }

    /// Gives one away, once.
    synchronized Optional<SandboxId> reserve(SandboxKind kind) {
        long now = nanos.getAsLong();
        var stock = stock(kind);
        stock.ask(now);
        notifyAll();
        var id = stock.ready.poll();
        if (id != null) {
            reserved.put(id, now);
        }
        return Optional.ofNullable(id);
    }

    /// Forgets a spare that was given out or has ended.
    synchronized void forget(SandboxId id) {
        reserved.remove(id);
        stocks.values().forEach(stock -> stock.ready.remove(id));
        notifyAll();
    }

    /// The number of spares.
    synchronized int count() {
        return stocks.values().stream().mapToInt(stock -> stock.ready.size()).sum();
    }

    /// The number of spares by template.
    synchronized Map<TemplateId, Integer> byTemplate() {
        var found = new HashMap<TemplateId, Integer>();
        stocks.forEach((kind, stock) -> {
            if (!stock.ready.isEmpty()) {
                found.merge(kind.templateId(), stock.ready.size(), Integer::sum);
            }
        });
        return found;
    }

    /// Ends surplus spares, and those that were prepared and never used.
    void tidy() {
        endAll(superfluous());
    }

    private void endAll(List<SandboxId> ids) {
        for (var id : ids) {
            try {
                maker.end(id);
            } catch (CayException e) {
                log.atWarn()
                        .setCause(e)
                        .addKeyValue("sandbox", id)
                        .log("cannot end a spare sandbox; the node tries again");
            }
        }
    }

    private synchronized List<SandboxId> superfluous() {
        long now = nanos.getAsLong();
        var ids = new ArrayList<SandboxId>();
        reserved.entrySet().removeIf(entry -> {
            boolean late = now - entry.getValue() > RESERVATION.toNanos();
            if (late) {
                ids.add(entry.getKey());
            }
            return late;
        });
        stocks.values().forEach(stock -> {
            while (stock.ready.size() > stock.wanted(now, most)) {
                ids.add(stock.ready.removeLast());
            }
        });
        stocks.values().removeIf(stock -> stock.ready.isEmpty() && !stock.expected && stock.recently(now) < 0.01);
        return ids;
    }

    @Override
    public void close() {
        maker.close();
        Thread running; // never waited for while we hold the lock it needs
        synchronized (this) {
            closed = true;
            running = worker;
            notifyAll();
        }
        try {
            if (running != null) {
                running.join(LONGEST_PAUSE);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Stock stock(SandboxKind kind) {
        return stocks.computeIfAbsent(kind, asked -> new Stock(costly.test(asked)));
    }

    private void work() {
        try {
            for (var kind = next(); kind != null; kind = next()) {
                make(kind);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void make(SandboxKind kind) {
        SandboxId id = null;
        SandboxId superfluous = null;
        try {
            id = maker.make(kind);
        } catch (CayException e) {
            log.atWarn().addKeyValue("reason", e.getMessage()).log("no spare sandbox could be started");
        }
        synchronized (this) {
            var stock = stocks.get(kind);
            if (stock == null && id != null) {
                superfluous = id;
            } else if (stock != null && id != null) {
                stock.ready.add(id);
                stock.pause = Duration.ZERO;
            } else if (stock != null) {
                var longer = stock.pause.isZero() ? FIRST_PAUSE : stock.pause.multipliedBy(2);
                stock.pause = longer.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : longer;
                stock.notBefore = nanos.getAsLong() + stock.pause.toNanos();
            }
        }
        if (superfluous != null) {
            endAll(List.of(superfluous));
        }
    }

    /// Waits until one of some kind should be made.
    ///
    /// @return null when closed
    private synchronized @Nullable SandboxKind next() throws InterruptedException {
        while (!closed) {
            long now = nanos.getAsLong();
            long soonest = Long.MAX_VALUE;
            for (var entry : stocks.entrySet()) {
                long due = due(entry.getValue(), now);
                if (due <= now) {
                    return entry.getKey();
                }
                soonest = Math.min(soonest, due);
            }
            if (soonest == Long.MAX_VALUE) {
                wait();
            } else {
                wait(Math.max(1, Duration.ofNanos(soonest - now).toMillis()));
            }
        }
        return null;
    }

    /// When to make the next spare of a kind.
    private long due(Stock stock, long now) {
        int wanted = stock.wanted(now, most);
        if (stock.ready.size() >= wanted) {
            return Long.MAX_VALUE;
        }
        if (busy.getAsBoolean()) {
            return now + BUSY_PAUSE.toNanos();
        }
        long due = now;
        if (stock.asked > 0 && stock.ready.size() * 2 > wanted) {
            due = stock.askedAt + COURTESY.toNanos();
        }
        return stock.pause.isZero() ? due : Math.max(due, stock.notBefore);
    }
}
