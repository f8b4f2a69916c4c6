package dev.cay.node.egress;

import dev.cay.wire.node.EgressEntry;
import dev.cay.wire.node.EgressSeen;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The destinations that one sandbox tried to reach. The oldest entries are removed when {@link LogRoom} has no room
/// for them. Kept in memory, as long as the daemon and the sandbox. Thread-safe.
final class EgressLog implements LogRoom.Log {
    private static final int MOST_NAME = 253;

    /// The number of refusals that are reported: a program can invent names without end.
    private static final int MOST_TOLD = 100;

    private record Key(
            String protocol,
            @Nullable String name,
            @Nullable String address,
            int port,
            boolean allowed,
            String match) {}

    /// One row, whose counters connections update while they last.
    static final class Row {
        private final Instant first;
        private volatile Instant last;
        private final LongAdder attempts = new LongAdder();
        final LongAdder sent = new LongAdder();
        final LongAdder received = new LongAdder();

        private Row(Instant first) {
            this.first = first;
            this.last = first;
        }

        private boolean isFirst() {
            return attempts.sum() == 1;
        }
    }

    private final InstantSource clock;
    private final LogRoom room;
    private final String sandbox;
    private final Supplier<Optional<String>> owner;
    private final LinkedHashMap<Key, Row> rows = new LinkedHashMap<>(16, 0.75f, true);
    private long dropped;
    private int told;
    private volatile @Nullable String team;
    private volatile boolean forgotten;
    private volatile Consumer<EgressEntry> onRefusal = _ -> {};

    /// @param sandbox its name, which stands for a team while it has none
    /// @param team    asked until there is one, because a sandbox may be started before a team gets it
    EgressLog(InstantSource clock, LogRoom room, String sandbox, Supplier<Optional<String>> team) {
        this.clock = clock;
        this.room = room;
        this.sandbox = sandbox;
        this.owner = team;
    }

    /// Whose room its entries take. The answer is kept, because nobody knows the team of a sandbox that has ended.
    @Override
    public String team() {
        var known = team;
        if (known == null) {
            known = owner.get().orElse(null);
            team = known;
        }
        return known == null ? sandbox : known;
    }

    /// Takes no more entries, because they count no more.
    @Override
    public synchronized void forget() {
        forgotten = true;
    }

    @Override
    public boolean forgotten() {
        return forgotten;
    }

    /// @param listener gets the first refusal of each kind
    void onRefusal(Consumer<EgressEntry> listener) {
        onRefusal = listener;
    }

    /// Notes one attempt.
    Row note(
            String protocol, @Nullable String name, @Nullable String address, int port, boolean allowed, String match) {
        String shortName = name == null ? null : printable(name);
        var key = new Key(protocol, shortName, address, port, allowed, match);
        var row = note(key);
        if (!allowed && row.isFirst() && tells()) {
            onRefusal.accept(entry(key, row));
        }
        return row;
    }

    private Row note(Key key) {
        Row row;
        boolean added;
        synchronized (this) {
            var now = clock.instant();
            if (forgotten) {
                return new Row(now);
            }
            int before = rows.size();
            row = rows.computeIfAbsent(key, _ -> new Row(now));
            row.attempts.increment();
            row.last = now;
            added = rows.size() > before;
        }
        if (added) {
            room.added(this);
        }
        return row;
    }

    /// Removes the entry that was not seen for the longest time.
    @Override
    public synchronized void dropOldest() {
        if (rows.pollFirstEntry() != null) {
            dropped++;
        }
    }

    private synchronized boolean tells() {
        return told++ < MOST_TOLD;
    }

    /// A sandbox may ask for a name of any bytes, and operators read names in terminals.
    private static String printable(String name) {
        String all = name.replaceAll("[^\\x21-\\x7e]", "?");
        return all.length() <= MOST_NAME ? all : all.substring(0, MOST_NAME);
    }

    synchronized EgressSeen seen() {
        var all = rows.entrySet().stream()
                .map(entry -> entry(entry.getKey(), entry.getValue()))
                .toList();
        return new EgressSeen(List.copyOf(all.reversed()), dropped);
    }

    private static EgressEntry entry(Key key, Row row) {
        return new EgressEntry(
                row.first,
                row.last,
                key.protocol(),
                key.name(),
                key.address(),
                key.port(),
                key.allowed(),
                key.match(),
                row.attempts.sum(),
                row.sent.sum(),
                row.received.sum());
    }
}
