package dev.cay.node.files;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.EntryReader;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// Reads a directory. Root inside may have made millions of files in it.
final class DirectoryListing implements AutoCloseable {
    private static final int MOST = 100_000;
    private static final int MANY = 4096;
    /// Memory of one entry: as an object, as a message, and as its bytes.
    private static final int MEMORY_EACH = 900;

    private final Entries teller;
    private final LongConsumer large;
    private final long end;
    private final List<Entry> entries = new ArrayList<>();
    private final EntryReader reader = new EntryReader();

    /// @param large called before many entries are read, with the memory they may need; refuses by throwing
    DirectoryListing(Entries teller, LongConsumer large, Duration limit) {
        this.teller = teller;
        this.large = large;
        this.end = System.nanoTime() + limit.toNanos();
    }

    List<Entry> entries() {
        return entries;
    }

    void add(SandboxPath path, Descriptor directory, int depth) throws IOException {
        var names = new ArrayList<>(FileCalls.names(directory, MOST + 1));
        makeRoom(names.size());
        names.sort(null);
        for (String name : names) {
            if (System.nanoTime() - end > 0) {
                throw new CayException(ErrorKind.EXHAUSTED, "listing takes too long: list a part of it");
            }
            var entry = find(path.child(name), directory, name);
            if (entry == null) {
                continue;
            }
            entries.add(entry);
            if (depth > 1 && entry.type() == Entry.Type.DIRECTORY && entry.symlinkTarget() == null) {
                addBelow(entry.path(), directory, depth - 1);
            }
        }
    }

    /// Null if it went away meanwhile, or cannot be looked at.
    private @Nullable Entry find(SandboxPath path, Descriptor directory, String name) throws IOException {
        try {
            return teller.of(path, reader, directory, name);
        } catch (ErrnoException _) {
            return null;
        }
    }

    private void makeRoom(int more) {
        int all = entries.size() + more;
        if (all > MOST) {
            throw new CayException(
                    ErrorKind.EXHAUSTED,
                    "more than %d entries: list a part of them, or run `find` in the sandbox".formatted(MOST));
        }
        if (all > MANY) {
            large.accept((long) MOST * MEMORY_EACH);
        }
    }

    private void addBelow(SandboxPath path, Descriptor parent, int depth) throws IOException {
        try (var directory =
                FileCalls.openEntry(parent, path.name(), FileCalls.DIRECTORY | FileWork.OPEN_FLAGS, true)) {
            add(path, directory, depth);
        } catch (ErrnoException e) {
            // The directory was removed, or became a link, meanwhile.
            if (e.errno() != Errno.ENOENT && e.errno() != Errno.ENOTDIR && e.errno() != Errno.ELOOP) {
                throw e;
            }
        }
    }

    @Override
    public void close() {
        reader.close();
    }
}
