package dev.cay.node.sandbox;

import dev.cay.node.host.HostCapacity;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Node;
import dev.cay.wire.node.Saved;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The paused sandboxes that are frozen in the machine's memory. Thread-safe.
///
/// Has them saved, a few at a time. Saved ones stay frozen while there is room, so that they go on at once; when room
/// is short they give way, those first that were paused first.
public final class FrozenSandboxes implements HostCapacity.Relief, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(FrozenSandboxes.class);
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /// A sandbox that is resumed right after its pause goes on at once, because its save has not begun.
    private static final Duration BEFORE_SAVE = Duration.ofMillis(100);

    private static final Duration FIRST_RETRY = Duration.ofSeconds(5);
    private static final int MOST_DOUBLINGS = 6;
    private static final Duration LOOK = Duration.ofMillis(100);
    private static final Duration FILL_LIMIT = Duration.ofMinutes(5);
    private static final Duration RELUCTANCE = Duration.ofMinutes(1);

    /// What a keeper does with its frozen sandbox. Each call waits for the keeper's other work.
    interface Original {
        SandboxId id();

        /// Whether its memory is still coming back. It cannot be saved before.
        boolean isFilling();

        /// Saves it, unless it goes on already or somebody waits for that.
        Outcome save();

        /// Has the kernel write its memory to the swap, as far as it can. Takes seconds.
        void pushOut();

        /// Gives up the frozen container of a saved one.
        void giveWay();

        /// Keeps the files alone of one that cannot be saved.
        void keepFilesAlone(String reason);

        /// Bytes that it holds in memory now: less than before where the kernel has written some to the swap.
        long resident();
    }

    /// What came of a save.
    enum Outcome {
        SAVED,
        FAILED,
        /// It was not tried, or was given up.
        LATER
    }

    /// One frozen sandbox. Guarded by the lock of all.
    private static final class Entry {
        private final Original original;
        private final long memory;

        /// Bytes that it holds, as far as is known: less than at first when it was pushed out to the swap.
        private long held;

        private boolean pushed;
        private boolean saved;
        private boolean busy;
        private int failures;
        private final long frozen = System.nanoTime();
        private long nextTry;

        /// When it is tried to save it although its memory is still coming back.
        private final long filled = frozen + FILL_LIMIT.toNanos();

        /// When it may be asked again to give way.
        private long nextRequest = frozen;

        private Entry(Original original, long memory, boolean saved, Duration beforeSave) {
            this.original = original;
            this.memory = memory;
            this.held = memory;
            this.saved = saved;
            this.nextTry = frozen + beforeSave.toNanos();
        }

        /// @param hurry whether memory is short, so that the first try does not wait
        /// @return nanoseconds
        private long untilTry(boolean hurry, long now) {
            return hurry && failures == 0 ? 0 : nextTry - now;
        }
    }

    /// What decides about the memory of this machine.
    ///
    /// @param isShort  whether there is none for another sandbox
    /// @param swaps    whether there is a swap
    /// @param swapRoom bytes of the swap that frozen sandboxes may have
    record Memory(BooleanSupplier isShort, BooleanSupplier swaps, LongSupplier swapRoom) {
        private static Memory of(HostCapacity capacity) {
            return new Memory(capacity::isShort, capacity::swaps, capacity::swapRoom);
        }
    }

    private final Memory machine;
    private final long budget;
    private final int atOnce;
    private final Duration beforeSave;
    private final List<Node.SavedListener> listeners = new CopyOnWriteArrayList<>();

    /// In the order of their pauses.
    private final Map<SandboxId, Entry> entries = new LinkedHashMap<>();

    /// Counts what {@link #work} has to look at.
    private long changes;

    private boolean closed;
    private @Nullable Thread clerk;

    /// @param budget bytes of memory that frozen sandboxes may hold together once they are saved
    public FrozenSandboxes(HostCapacity capacity, long budget) {
        this(Memory.of(capacity), budget, Math.max(1, Runtime.getRuntime().availableProcessors() / 2), BEFORE_SAVE);
    }

    /// @param atOnce     how many are saved at a time
    /// @param beforeSave how long each is frozen before its save begins, unless memory is short
    FrozenSandboxes(Memory machine, long budget, int atOnce, Duration beforeSave) {
        this.machine = machine;
        this.budget = budget;
        this.atOnce = atOnce;
        this.beforeSave = beforeSave;
    }

    void listen(Node.SavedListener listener) {
        listeners.add(listener);
    }

    /// Calls every listener, also after one failed.
    void tell(SandboxId id, Saved saved) {
        for (var listener : listeners) {
            try {
                listener.saved(id, saved);
            } catch (RuntimeException e) {
                log.atError()
                        .setCause(e)
                        .addKeyValue("sandbox", id)
                        .log("a listener failed to handle the save of a sandbox");
            }
        }
    }

    /// A sandbox was frozen, or found frozen.
    ///
    /// @param memory bytes that it holds
    synchronized void add(Original original, long memory, boolean saved) {
        if (closed) {
            return;
        }
        entries.remove(original.id());
        entries.put(original.id(), new Entry(original, memory, saved, beforeSave));
        if (clerk == null) {
            clerk = Thread.ofVirtual().name("frozen-sandboxes").start(this::work);
        }
        changed();
    }

    /// A sandbox is frozen no more.
    synchronized void remove(SandboxId id) {
        if (entries.remove(id) != null) {
            changed();
        }
    }

    synchronized boolean has(SandboxId id) {
        return entries.containsKey(id);
    }

    /// Whether it is frozen, and the disk has all of it.
    synchronized boolean isSaved(SandboxId id) {
        var entry = entries.get(id);
        return entry != null && entry.saved;
    }

    /// Memory of those that are yet to be saved.
    synchronized Map<SandboxId, Long> unsaved() {
        var bytes = new HashMap<SandboxId, Long>();
        entries.forEach((id, entry) -> {
            if (!entry.saved) {
                bytes.put(id, entry.memory);
            }
        });
        return bytes;
    }

    /// Whether so much more that is not saved would be too much, so that a pause waits until it is saved.
    synchronized boolean isTooMuch(long memory) {
        long unsaved = entries.values().stream()
                .filter(entry -> !entry.saved)
                .mapToLong(entry -> entry.memory)
                .sum();
        return unsaved > 0 && unsaved + memory > Math.max(budget, 1L << 30);
    }

    /// Bytes on the swap, which come back with their sandboxes.
    @Override
    public long owed() {
        if (!machine.swaps.getAsBoolean()) {
            return 0;
        }
        List<Entry> all;
        synchronized (this) {
            all = List.copyOf(entries.values());
        }
        return all.stream()
                .mapToLong(entry -> Math.max(0, entry.memory - entry.original.resident()))
                .sum();
    }

    /// The clerk of the saves. Ends when nothing is frozen.
    private void work() {
        try {
            while (awaitWork()) {
                keepWithinBudget();
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    /// Begins saves that are due and waits for the next change.
    ///
    /// @return false when there is nothing more to look after
    private synchronized boolean awaitWork() throws InterruptedException {
        long until = System.nanoTime() + begin();
        long seen = changes;
        while (!closed && !entries.isEmpty() && changes == seen && until - System.nanoTime() > 0) {
            wait(1 + (until - System.nanoTime()) / 1_000_000);
        }
        if (closed || entries.isEmpty()) {
            clerk = null;
            return false;
        }
        return true;
    }

    private void changed() {
        changes++;
        notifyAll();
    }

    /// @return nanoseconds until the next retry
    private long begin() {
        long now = System.nanoTime();
        long next = PATIENCE.toNanos();
        var order = Comparator.<Entry>comparingInt(entry -> entry.failures);
        boolean hurry = isOverBudget();
        // Where memory is short, the largest is saved first, because it frees most.
        var due = entries.values().stream()
                .filter(entry -> !entry.saved && !entry.busy)
                .sorted(hurry ? order.thenComparingLong(entry -> -entry.memory) : order)
                .toList();
        long free =
                atOnce - entries.values().stream().filter(entry -> entry.busy).count();
        for (var entry : due) {
            long wait = entry.untilTry(hurry, now);
            if (wait > 0) {
                next = Math.min(next, wait);
            } else if (free > 0 && entry.filled - now > 0 && entry.original.isFilling()) {
                // It would keep others waiting for as long as it waits for its memory.
                next = Math.min(next, LOOK.toNanos());
            } else if (free-- > 0) {
                entry.busy = true;
                Thread.ofVirtual().name("save-" + entry.original.id().value()).start(() -> save(entry));
            }
        }
        return next;
    }

    private void save(Entry entry) {
        var outcome = Outcome.FAILED;
        try {
            outcome = entry.original.save();
        } catch (RuntimeException e) {
            log.atWarn().setCause(e).addKeyValue("sandbox", entry.original.id()).log("a frozen sandbox was not saved");
        } finally {
            ended(entry, outcome);
        }
    }

    private synchronized void ended(Entry entry, Outcome outcome) {
        entry.busy = false;
        entry.saved = outcome == Outcome.SAVED;
        if (outcome == Outcome.LATER) {
            entry.nextTry = System.nanoTime() + FIRST_RETRY.toNanos();
        }
        if (outcome == Outcome.FAILED) {
            var pause = FIRST_RETRY.multipliedBy(1L << Math.min(entry.failures, MOST_DOUBLINGS));
            entry.failures++;
            entry.nextTry = System.nanoTime() + pause.toNanos();
        }
        changed();
    }

    private boolean isOverBudget() {
        return entries.values().stream().mapToLong(entry -> entry.held).sum() > budget;
    }

    private Optional<Entry> saved() {
        return first(entry -> entry.saved);
    }

    private Optional<Entry> first(Predicate<Entry> wanted) {
        return entries.values().stream()
                .filter(entry -> !entry.busy && wanted.test(entry))
                .findFirst();
    }

    /// Called periodically.
    void lookAfter() {
        keepWithinBudget();
        while (onlyUnsavableAreLeft() && machine.isShort.getAsBoolean() && keepFilesOfOne()) {
            log.atWarn().log("memory is short: a frozen sandbox that cannot be saved was given up");
        }
    }

    /// Whether there are some that could not be saved, and none that is saved or may be soon.
    private synchronized boolean onlyUnsavableAreLeft() {
        return !entries.isEmpty() && entries.values().stream().allMatch(entry -> !entry.saved && entry.failures > 0);
    }

    private boolean keepFilesOfOne() {
        return giveWay(
                entry -> !entry.saved && entry.failures > 0,
                original -> original.keepFilesAlone("memory ran short while it could not be saved"));
    }

    /// Pushes saved ones out to the swap, or lets them give way, until the others fit into the budget and the machine
    /// has
    /// memory to spare.
    private void keepWithinBudget() {
        while (needsRoom()) {
            if (!pushOut() && !giveWay(entry -> entry.saved, Original::giveWay)) {
                return;
            }
        }
    }

    /// Pushes one out to the swap, if it has room. What is there is still owed to its sandbox, so this helps where the
    /// budget is used up, and not where memory is short.
    private boolean pushOut() {
        long room = machine.swapRoom.getAsLong();
        Entry found;
        synchronized (this) {
            var first = first(entry -> entry.saved && !entry.pushed && entry.memory <= room);
            if (first.isEmpty() || !isOverBudget()) {
                return false;
            }
            found = first.get();
            found.busy = true;
            found.pushed = true;
        }
        long held = found.memory;
        try {
            found.original.pushOut();
            held = Math.min(held, found.original.resident());
        } catch (CayException e) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("sandbox", found.original.id())
                    .log("a frozen sandbox cannot be pushed out to the swap");
        }
        synchronized (this) {
            found.busy = false;
            found.held = held;
            changed();
        }
        return true;
    }

    private boolean needsRoom() {
        synchronized (this) {
            if (closed || saved().isEmpty()) {
                return false;
            }
            if (isOverBudget()) {
                return true;
            }
        }
        return machine.isShort.getAsBoolean();
    }

    /// Has the first give way that can.
    private boolean giveWay(Predicate<Entry> wanted, Consumer<Original> how) {
        while (true) {
            Entry found;
            synchronized (this) {
                var first = first(entry -> entry.nextRequest - System.nanoTime() <= 0 && wanted.test(entry));
                if (first.isEmpty()) {
                    return false;
                }
                found = first.get();
                found.busy = true;
            }
            if (gaveWay(found, how)) {
                return true;
            }
        }
    }

    /// One that does not is left alone for a while, so that others are asked.
    private boolean gaveWay(Entry found, Consumer<Original> how) {
        try {
            how.accept(found.original);
            remove(found);
            return true;
        } catch (CayException e) {
            log.atWarn().setCause(e).addKeyValue("sandbox", found.original.id()).log("a frozen sandbox stays");
            synchronized (this) {
                found.nextRequest = System.nanoTime() + RELUCTANCE.toNanos();
            }
            return false;
        } finally {
            synchronized (this) {
                found.busy = false;
                changed();
            }
        }
    }

    private synchronized void remove(Entry entry) {
        entries.remove(entry.original.id(), entry);
    }

    /// Makes room for a sandbox that starts: one that is saved gives way, or one that is being saved is awaited, or the
    /// files alone are kept of one that could not be saved.
    @Override
    public boolean relieve() {
        return giveWay(entry -> entry.saved, Original::giveWay)
                || (awaitSave() && giveWay(entry -> entry.saved, Original::giveWay))
                || keepFilesOfOne();
    }

    /// @return whether one was saved in time
    private synchronized boolean awaitSave() {
        long end = System.nanoTime() + PATIENCE.toNanos();
        try {
            while (entries.values().stream().anyMatch(entry -> !entry.saved && entry.failures == 0)) {
                long left = end - System.nanoTime();
                if (left <= 0 || closed) {
                    return false;
                }
                wait(Math.max(1, left / 1_000_000));
                if (saved().isPresent()) {
                    return true;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return false;
    }

    /// Leaves the rest to the next daemon.
    @Override
    public synchronized void close() {
        closed = true;
        changed();
    }
}
