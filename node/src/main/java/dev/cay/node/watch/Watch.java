package dev.cay.node.watch;

import dev.cay.node.files.Entry;
import dev.cay.node.files.FileTree;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Reports changes in a directory, in the order of the kernel's events. Of two equal changes in a row, one is reported.
///
/// Changes are queued until the reader takes them, up to a limit. A reader that is too slow, or a sandbox that is too
/// fast, ends the watch; the reader gets this end after all queued changes.
public final class Watch implements AutoCloseable {
    private static final String TOO_MUCH = "more changed than could be told: watch again, and list the directory";
    private static final Duration SETTLE = Duration.ofMillis(500);
    private static final Duration END = Duration.ofSeconds(2);
    private static final long COST = 160;
    private static final long ENTRY_COST = 800;

    private record Waiting(Change change, long cost) {}

    private final WatchWish wish;
    private final FileTree files;
    private final WatchHub hub;
    private final WatchQuota quota;
    private final Consumer<Watch> onClose;
    private final WatchedTree folders;
    private final Thread thread = Thread.ofVirtual().name("watch").unstarted(this::work);

    private final Deque<Folder.Event> heard = new ArrayDeque<>();
    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private boolean busy;
    private boolean closed;
    private @Nullable String lost;

    WatchWish wish() {
        return wish;
    }

    /// @param onClose told when this is closed
    Watch(WatchWish wish, FileTree files, WatchHub hub, WatchQuota quota, Consumer<Watch> onClose) {
        this.wish = wish;
        this.files = files;
        this.hub = hub;
        this.quota = quota;
        this.onClose = onClose;
        this.folders = new WatchedTree(new TreeListener(), wish, files, hub, quota);
    }

    /// Begins to watch. Once this returns, no change is missed.
    void begin() throws IOException {
        folders.begin();
        thread.start();
    }

    /// The next change, or null when there was none for so long.
    public synchronized @Nullable Change next(Duration patience) throws InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        while (waiting.isEmpty()) {
            requireLife();
            long left = end - System.nanoTime();
            if (left <= 0) {
                return null;
            }
            wait(left / 1_000_000 + 1);
        }
        return take(waiting.removeFirst());
    }

    /// All changes before the call that were not taken yet.
    public List<Change> takeAll() throws IOException, InterruptedException {
        hub.catchUp();
        var changes = new ArrayList<Change>();
        synchronized (this) {
            long end = System.nanoTime() + SETTLE.toNanos();
            while ((busy || !heard.isEmpty()) && lost == null && !closed && System.nanoTime() < end) {
                wait(SETTLE.toMillis());
            }
            if (waiting.isEmpty()) {
                requireLife();
            }
            while (!waiting.isEmpty()) {
                changes.add(take(waiting.removeFirst()));
            }
        }
        return changes;
    }

    private Change take(Waiting first) {
        quota.release(first.cost);
        return first.change;
    }

    private void requireLife() {
        if (lost != null) {
            throw new CayException(ErrorKind.FAILED, lost);
        }
        if (closed) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the watch has ended");
        }
    }

    /// Receives the events of the directories.
    private final class TreeListener implements WatchedTree.Listener {
        @Override
        public void happened(Folder.Event event) {
            accept(event);
        }

        @Override
        public void lost() {
            lose(TOO_MUCH);
        }

        @Override
        public void changed(String name, Change.Kind kind) {
            tell(name, kind);
        }
    }

    private static long cost(Folder.Event event) {
        return COST + 2L * event.name().length();
    }

    /// Takes what the kernel told; never waits.
    private synchronized void accept(Folder.Event event) {
        if (closed || lost != null || event.equals(heard.peekLast())) {
            return;
        }
        if (!quota.charge(cost(event))) {
            lose(TOO_MUCH);
            return;
        }
        heard.addLast(event);
        notifyAll();
    }

    /// Ends the watch with a reason.
    private synchronized void lose(String why) {
        if (lost == null && !closed) {
            lost = why;
            heard.forEach(event -> quota.release(cost(event)));
            heard.clear();
            notifyAll();
        }
    }

    private void work() {
        try {
            for (var event = hear(); event != null; event = hear()) {
                folders.handle(event);
                quota.release(cost(event));
            }
        } catch (IOException | CayException e) {
            lose("the watch ended: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            folders.close();
        }
    }

    private synchronized Folder.@Nullable Event hear() throws InterruptedException {
        busy = false;
        notifyAll();
        while (heard.isEmpty()) {
            if (closed || lost != null) {
                return null;
            }
            wait();
        }
        busy = true;
        return heard.removeFirst();
    }

    /// Queues a change. Called on the watch's thread, or before it started.
    private void tell(String name, Change.Kind kind) {
        boolean there = kind != Change.Kind.REMOVE && kind != Change.Kind.RENAME;
        var change = new Change(name, kind, wish.entries() && there ? find(name) : null);
        long cost = COST + 2L * name.length() + (change.entry() == null ? 0 : ENTRY_COST);
        synchronized (this) {
            var last = waiting.peekLast();
            if (last != null && last.change.kind() == kind && last.change.name().equals(name)) {
                take(waiting.removeLast());
            }
            if (closed || lost != null) {
                return;
            }
            if (!quota.charge(cost)) {
                lose(TOO_MUCH);
                return;
            }
            waiting.addLast(new Waiting(change, cost));
            notifyAll();
        }
    }

    private @Nullable Entry find(String name) {
        try {
            return files.stat(name.equals(".") ? wish.path() : wish.path().child(name));
        } catch (IOException | CayException e) {
            return null; // It went away again.
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            heard.forEach(event -> quota.release(cost(event)));
            waiting.forEach(left -> quota.release(left.cost));
            heard.clear();
            waiting.clear();
            notifyAll();
        }
        onClose.accept(this);
        if (thread.getState() == Thread.State.NEW) {
            folders.close();
            return;
        }
        try {
            thread.join(END);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
