package dev.cay.node.files;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.time.Duration;

/// Removes a directory with its content, a part at a time, so that it does not keep a thread from others. Never leaves
/// the file system it began on, follows no links, and has a time limit: root inside can make files as fast as they are
/// removed.
final class TreeRemoval {
    private static final int MAX_DEPTH = 256;
    private static final Duration PART = Duration.ofMillis(200);

    /// There is more to remove, and others have to get their turn.
    private static final class PartDone extends RuntimeException {
        private PartDone() {
            super("a part is removed", null, false, false);
        }
    }

    private final long end;
    private long partEnd;

    TreeRemoval(Duration limit) {
        this.end = System.nanoTime() + limit.toNanos();
    }

    /// Removes as much of an entry as there is time for; a missing one is no error.
    ///
    /// @return whether nothing is left of it
    boolean removeSome(Descriptor parent, String name) throws IOException {
        partEnd = System.nanoTime() + PART.toNanos();
        try {
            remove(parent, name, 0);
        } catch (ErrnoException e) {
            if (e.errno() != Errno.ENOENT) {
                throw e;
            }
        } catch (PartDone _) {
            return false;
        }
        return true;
    }

    private void remove(Descriptor parent, String name, int depth) throws IOException {
        while (true) {
            try {
                FileCalls.removeFile(parent, name);
                return;
            } catch (ErrnoException e) {
                if (e.errno() != Errno.EISDIR) {
                    throw e;
                }
            }
            requireSense(depth);
            try (var directory = FileCalls.openEntry(parent, name, FileCalls.DIRECTORY | FileWork.OPEN_FLAGS, false)) {
                empty(directory, depth);
            } catch (ErrnoException e) {
                if (e.errno() != Errno.ENOTDIR && e.errno() != Errno.ELOOP) {
                    throw e;
                }
                continue; // It is not a directory any more.
            }
            if (removedEmpty(parent, name)) {
                return;
            }
        }
    }

    private void empty(Descriptor directory, int depth) throws IOException {
        for (var names = FileCalls.nextNames(directory); !names.isEmpty(); names = FileCalls.nextNames(directory)) {
            for (String child : names) {
                requireSense(depth);
                try {
                    remove(directory, child, depth + 1);
                } catch (ErrnoException e) {
                    if (e.errno() != Errno.ENOENT) {
                        throw e;
                    }
                }
            }
        }
    }

    /// Removes an empty directory; false when it is not empty any more, or something else has its name.
    private static boolean removedEmpty(Descriptor parent, String name) throws ErrnoException {
        try {
            FileCalls.removeDirectory(parent, name);
            return true;
        } catch (ErrnoException e) {
            if (e.errno() != Errno.ENOTEMPTY && e.errno() != Errno.ENOTDIR) {
                throw e;
            }
            return false;
        }
    }

    private void requireSense(int depth) {
        if (depth > MAX_DEPTH) {
            throw new CayException(ErrorKind.EXHAUSTED, "directories are nested too deeply");
        }
        long now = System.nanoTime();
        if (now - end > 0) {
            throw new CayException(
                    ErrorKind.FAILED, "there was too much to remove, or more came all the time; a part is removed");
        }
        if (now - partEnd > 0) {
            throw new PartDone();
        }
    }
}
