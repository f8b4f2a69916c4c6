package dev.cay.server.access;

import dev.cay.server.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The last use of each API key. Written periodically, because a request must not wait for it. Thread-safe.
final class KeyUses {
    private static final Logger log = LoggerFactory.getLogger(KeyUses.class);
    private static final Duration EVERY = Duration.ofSeconds(30);

    private final Store store;
    private final Map<String, Instant> last = new ConcurrentHashMap<>();
    private final Map<String, Instant> unwritten = new ConcurrentHashMap<>();
    private final AtomicReference<Instant> written = new AtomicReference<>(Instant.MIN);

    KeyUses(Store store) {
        this.store = store;
    }

    void note(TeamKey key, Instant now) {
        last.put(key.id(), now);
        unwritten.put(key.id(), now);
        var before = written.get();
        if (!before.isAfter(now.minus(EVERY)) && written.compareAndSet(before, now)) {
            Thread.ofVirtual().name("key-uses").start(this::write);
        }
    }

    /// The last use of this key since the start.
    @Nullable
    Instant last(String keyId) {
        return last.get(keyId);
    }

    /// The key was revoked.
    void forget(TeamKey key) {
        last.remove(key.id());
        unwritten.remove(key.id());
    }

    /// Writes all last uses. A failed write is repeated with the next one.
    void write() {
        var uses = Map.copyOf(unwritten);
        if (uses.isEmpty()) {
            return;
        }
        try {
            store.write(handle -> {
                uses.forEach((id, at) -> AccessStore.noteUse(handle, id, at));
                return uses.size();
            });
            uses.forEach(unwritten::remove);
        } catch (RuntimeException e) {
            log.atDebug().setCause(e).log("the last uses of API keys were not written");
        }
    }
}
