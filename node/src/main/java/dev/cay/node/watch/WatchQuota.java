package dev.cay.node.watch;

/// Limits of all watches of one sandbox together. Thread-safe.
final class WatchQuota {
    /// Each watched directory costs the kernel about two kilobytes that no limit of the sandbox counts.
    static final int MOST_DIRECTORIES = 8192;

    /// Bytes of queued changes.
    private static final long MOST_WAITING = 4 << 20;

    private final WatchHub hub;
    private int directories;
    private long waiting;

    WatchQuota(WatchHub hub) {
        this.hub = hub;
    }

    /// Whether one more directory may be watched.
    synchronized boolean takeDirectory() {
        if (directories >= MOST_DIRECTORIES) {
            return false;
        }
        directories++;
        return true;
    }

    synchronized void giveDirectory() {
        directories--;
    }

    /// Whether so much more may wait to be taken.
    synchronized boolean charge(long bytes) {
        if (waiting + bytes > MOST_WAITING || !hub.charge(bytes)) {
            return false;
        }
        waiting += bytes;
        return true;
    }

    synchronized void release(long bytes) {
        waiting -= bytes;
        hub.release(bytes);
    }

    /// The numbers of queued bytes and of watched directories, for messages.
    synchronized String use() {
        return "%d bytes, %d directories".formatted(waiting, directories);
    }
}
