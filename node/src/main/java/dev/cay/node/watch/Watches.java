package dev.cay.node.watch;

import dev.cay.node.files.FileTree;
import dev.cay.node.files.SandboxPath;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// All watches of one sandbox. Thread-safe.
///
/// Uses the sandbox's files: close it before its {@link FileTree}.
public final class Watches implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Watches.class);

    private static final int MOST_WATCHES = 256;
    private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
    private static final int ID_LENGTH = 20;

    private final FileTree files;
    private final WatchHub hub;
    private final WatchQuota quota;
    private final SecureRandom random = new SecureRandom();
    private final Set<Watch> open = new HashSet<>();
    private final Map<String, Watch> kept = new HashMap<>();
    private @Nullable KeptWatches memory;
    private boolean closed;

    /// @param hub reads inotify events; shared by all sandboxes
    public Watches(FileTree files, WatchHub hub) {
        this.files = files;
        this.hub = hub;
        this.quota = new WatchQuota(hub);
    }

    /// Restores the watchers of the file, and stores later ones there.
    public void recall(Path file) {
        var known = new KeptWatches(file);
        for (var each : known.read().entrySet()) {
            var wish = each.getValue();
            try {
                var watch = open(wish.path(), wish.recursive(), wish.entries(), wish.remote());
                synchronized (this) {
                    kept.put(each.getKey(), watch);
                }
            } catch (IOException | CayException e) {
                // The directory does not exist any more; the client gets "not found" for this watcher.
                log.atDebug().setCause(e).addKeyValue("watcher", each.getKey()).log("a watcher could not be restored");
            }
        }
        synchronized (this) {
            memory = known;
        }
    }

    /// Opens a watch, which reports changes until it is closed.
    ///
    /// @param recursive whether changes in all directories below are reported, later ones too
    /// @param entries   whether each change has the entry's metadata at the time of the report
    /// @param remote    whether file systems are watched on which others could make changes unseen
    public Watch open(SandboxPath path, boolean recursive, boolean entries, boolean remote) throws IOException {
        var watch = new Watch(new WatchWish(path, recursive, entries, remote), files, hub, quota, this::forget);
        synchronized (this) {
            requireOpen();
            if (open.size() >= MOST_WATCHES) {
                throw new CayException(
                        ErrorKind.EXHAUSTED,
                        "a sandbox can have %d watchers at once: remove one".formatted(MOST_WATCHES));
            }
            open.add(watch);
        }
        try {
            watch.begin();
            return watch;
        } catch (IOException | RuntimeException e) {
            watch.close();
            throw e;
        }
    }

    /// Stores a watch under an id, for clients that poll.
    public synchronized String keep(Watch watch) {
        requireOpen();
        var id = new StringBuilder("w");
        for (int i = 0; i < ID_LENGTH; i++) {
            id.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
        }
        kept.put(id.toString(), watch);
        remember();
        return id.toString();
    }

    private void remember() {
        if (memory != null && !closed) {
            var wishes = new HashMap<String, WatchWish>();
            kept.forEach((id, watch) -> wishes.put(id, watch.wish()));
            memory.write(wishes);
        }
    }

    public synchronized Watch require(String id) {
        var watch = kept.get(id);
        if (watch == null) {
            throw new CayException(ErrorKind.NOT_FOUND, "watcher with id %s not found".formatted(id));
        }
        return watch;
    }

    public void remove(String id) {
        Watch watch;
        synchronized (this) {
            watch = require(id);
            kept.remove(id);
            remember();
        }
        watch.close();
    }

    private synchronized void forget(Watch watch) {
        open.remove(watch);
        kept.values().remove(watch);
    }

    /// The numbers of queued bytes, watched directories and watches, for messages.
    public synchronized String use() {
        return "%s, %d watches".formatted(quota.use(), open.size());
    }

    private void requireOpen() {
        if (closed) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the sandbox is ending");
        }
    }

    @Override
    public void close() {
        ArrayList<Watch> all;
        synchronized (this) {
            closed = true;
            all = new ArrayList<>(open);
        }
        all.forEach(Watch::close);
    }
}
