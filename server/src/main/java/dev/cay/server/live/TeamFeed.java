package dev.cay.server.live;

import dev.cay.http.Json;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/// The sandboxes of one team for all who follow them. A reader gets all of them first, then what has changed. Each
/// state is serialised once, whatever the number of readers. Thread-safe.
final class TeamFeed {
    /// What a reader gets next.
    ///
    /// @param version of the state that the reader then has
    record Part(long version, byte[] bytes) {}

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private Map<String, Object> entries = Map.of();
    private long version;
    private boolean ended;
    private byte[] change = {};
    private byte[] whole = {};
    private long wholeOf = -1;
    private int readers;

    /// Counts a reader.
    ///
    /// @return false if there are as many already
    boolean enter(int most) {
        lock.lock();
        try {
            if (readers >= most) {
                return false;
            }
            readers++;
            return true;
        } finally {
            lock.unlock();
        }
    }

    void leave() {
        lock.lock();
        try {
            readers--;
        } finally {
            lock.unlock();
        }
    }

    boolean isRead() {
        lock.lock();
        try {
            return readers > 0;
        } finally {
            lock.unlock();
        }
    }

    /// Nothing comes any more. Readers that wait return at once, and connect again if they like.
    void end() {
        lock.lock();
        try {
            ended = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean isEnded() {
        lock.lock();
        try {
            return ended;
        } finally {
            lock.unlock();
        }
    }

    /// Compares the team's sandboxes with those of the last call, and wakes readers if they differ.
    <T> void update(List<T> now, Function<T, String> id) {
        var fresh = new LinkedHashMap<String, Object>();
        now.forEach(one -> fresh.put(id.apply(one), one));
        lock.lock();
        try {
            var set = fresh.entrySet().stream()
                    .filter(entry -> !entry.getValue().equals(entries.get(entry.getKey())))
                    .map(Map.Entry::getValue)
                    .toList();
            var gone = entries.keySet().stream()
                    .filter(known -> !fresh.containsKey(known))
                    .toList();
            if (version > 0 && set.isEmpty() && gone.isEmpty()) {
                return;
            }
            entries = fresh;
            version++;
            var body = new HashMap<String, Object>();
            body.put("set", set);
            body.put("gone", gone);
            change = event("change", body);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// What makes a reader's state the newest; no bytes if nothing changes in this time.
    ///
    /// @param known the version that the reader has; 0 for none
    Part next(long known, long waitMillis) throws InterruptedException {
        lock.lock();
        try {
            long left = TimeUnit.MILLISECONDS.toNanos(waitMillis);
            while ((version == 0 || version == known) && !ended && left > 0) {
                left = changed.awaitNanos(left);
            }
            if (version == known) {
                return new Part(known, new byte[0]);
            }
            return new Part(version, known > 0 && known == version - 1 ? change : whole());
        } finally {
            lock.unlock();
        }
    }

    private byte[] whole() {
        if (wholeOf != version) {
            whole = event("all", Map.of("set", List.copyOf(entries.values())));
            wholeOf = version;
        }
        return whole;
    }

    private static byte[] event(String name, Object body) {
        var json = Json.write(body);
        var bytes = new ByteArrayOutputStream();
        bytes.writeBytes("event: %s\ndata: ".formatted(name).getBytes(StandardCharsets.US_ASCII));
        bytes.writeBytes(json);
        bytes.writeBytes("\n\n".getBytes(StandardCharsets.US_ASCII));
        return bytes.toByteArray();
    }
}
