package dev.cay.node.watch;

import dev.cay.life.Undo;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.HostThreads;
import dev.cay.node.linux.Inotify;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The node's inotify instance for directories of all sandboxes. Start it once per node.
///
/// There is one instance, because instances are scarce on a host. Its queue is shared, so a thread that does nothing
/// else reads it and passes events on without waiting.
public final class WatchHub implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(WatchHub.class);
    private static final Duration LIMIT = Duration.ofSeconds(5);
    /// Bytes of queued changes of all sandboxes.
    private static final long MOST_WAITING = 64 << 20;
    private static final int MOST_STRAY = 4096;

    /// A watched directory.
    interface Place {
        /// Must not block. `name` is empty when the directory itself is meant.
        void happened(int mask, int cookie, String name);

        /// The kernel had more to tell than it could keep.
        void lost();
    }

    private final Undo closing = new Undo();
    private final Inotify inotify;
    private final FdPoller.Watch readiness;
    private final HostThreads threads;
    private final AtomicLong waiting = new AtomicLong();

    private final Object lock = new Object();
    private final Map<Integer, List<Place>> places = new HashMap<>();
    /// Events of watches that are being added, before their owner is noted.
    private final List<Inotify.Event> strays = new ArrayList<>();

    private final Set<Integer> doomed = new HashSet<>();
    private int adding;

    public WatchHub(FdPoller poller) throws IOException {
        threads = closing.add(new HostThreads("watch", 1, 1024));
        inotify = closing.add(new Inotify());
        readiness = closing.add(poller.watch(inotify.descriptor(), FdPoller.IN, this::ready));
        readiness.resume();
    }

    /// Adds a watch. Called on a file thread without locks, because opening a directory may block.
    ///
    /// @return the number for {@link #remove}
    int add(Descriptor directory, Place place) throws ErrnoException {
        synchronized (lock) {
            adding++;
        }
        try {
            int watch = inotify.add(directory);
            synchronized (lock) {
                places.computeIfAbsent(watch, _ -> new ArrayList<>(1)).add(place);
                strays.stream()
                        .filter(event -> event.watch() == watch)
                        .forEach(event -> place.happened(event.mask(), event.cookie(), event.name()));
                strays.removeIf(event -> event.watch() == watch);
            }
            return watch;
        } finally {
            synchronized (lock) {
                adding--;
                if (adding == 0) {
                    strays.clear();
                    doomed.forEach(this::removeIfUnused);
                    doomed.clear();
                }
            }
        }
    }

    void remove(int watch, Place place) {
        synchronized (lock) {
            var those = places.get(watch);
            if (those == null || !those.remove(place) || !those.isEmpty()) {
                return;
            }
            places.remove(watch);
            // Another thread may just be getting the same number for the same directory.
            if (adding > 0) {
                doomed.add(watch);
            } else {
                removeIfUnused(watch);
            }
        }
    }

    private void removeIfUnused(int watch) {
        if (places.containsKey(watch)) {
            return;
        }
        try {
            inotify.remove(watch);
        } catch (ErrnoException e) {
            // The directory is gone, and its watch with it.
            log.atTrace().setCause(e).log("an inotify watch was already gone");
        }
    }

    /// The number of watched directories.
    int size() {
        synchronized (lock) {
            return places.size();
        }
    }

    /// Whether so much more may wait.
    boolean charge(long bytes) {
        if (waiting.addAndGet(bytes) <= MOST_WAITING) {
            return true;
        }
        waiting.addAndGet(-bytes);
        return false;
    }

    void release(long bytes) {
        waiting.addAndGet(-bytes);
    }

    /// Hands over all that happened before the call.
    void catchUp() throws IOException {
        threads.call(LIMIT, () -> {
            drain();
            return true;
        });
    }

    private void ready() {
        readiness.pause();
        threads.run(() -> {
            try {
                drain();
            } finally {
                readiness.resume();
            }
            return true;
        });
    }

    private void drain() throws IOException {
        for (var events = inotify.read(); !events.isEmpty(); events = inotify.read()) {
            events.forEach(this::tell);
        }
    }

    private void tell(Inotify.Event event) {
        if ((event.mask() & Inotify.OVERFLOW) != 0) {
            log.warn("the kernel's queue of changes overflowed: all watchers report lost changes");
            all().forEach(Place::lost);
            return;
        }
        for (var place : of(event)) {
            place.happened(event.mask(), event.cookie(), event.name());
        }
    }

    private List<Place> all() {
        synchronized (lock) {
            return places.values().stream().flatMap(List::stream).toList();
        }
    }

    private List<Place> of(Inotify.Event event) {
        synchronized (lock) {
            boolean last = (event.mask() & Inotify.IGNORED) != 0;
            var those = last ? places.remove(event.watch()) : places.get(event.watch());
            if (those != null) {
                return List.copyOf(those);
            }
            if (adding > 0 && strays.size() < MOST_STRAY) {
                strays.add(event);
            }
            return List.of();
        }
    }

    @Override
    public void close() {
        closing.close();
    }
}
