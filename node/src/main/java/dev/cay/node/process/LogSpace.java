package dev.cay.node.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;

/// The room that all output of one process shares on disk: files of equal size, of which the oldest goes first,
/// whatever stream it is of. So a silent stream leaves its part to a loud one. Thread-safe.
final class LogSpace {
    /// So many files together hold what is promised to be kept; each stream has one more that it writes to.
    private static final int FULL = 4;

    /// How far a reader may be behind, in files: one of each stream's could be cut on both sides, and all must fit.
    private static final int WINDOW = 2;

    /// Whoever writes files here.
    interface Owner {
        /// Whether it still writes to the file that begins there.
        boolean writesAt(long from);

        /// Deletes the file that begins there. File work.
        void drop(long from) throws IOException;
    }

    private record Piece(Owner log, long from) {}

    private final Path directory;
    private final long segment;
    private final int most;
    private final Deque<Piece> pieces = new ArrayDeque<>();

    /// @param bytes   that are kept at least, half as much again at most
    /// @param streams how many write here
    LogSpace(Path directory, long bytes, int streams) {
        this.directory = directory;
        // Less than a piece of output would let nobody read or write anything.
        this.segment = Math.max(bytes / FULL, Channel.STDOUT.chunk());
        this.most = FULL + streams;
    }

    Path directory() {
        return directory;
    }

    long segment() {
        return segment;
    }

    /// How far behind the end a reader can be without losing anything.
    long window() {
        return WINDOW * segment;
    }

    /// A log has begun a file; others give way. File work.
    synchronized void begun(Owner log, long from) throws IOException {
        pieces.addLast(new Piece(log, from));
        var oldest = pieces.iterator();
        while (pieces.size() > most && oldest.hasNext()) {
            var piece = oldest.next();
            if (!piece.log().writesAt(piece.from())) {
                oldest.remove();
                piece.log().drop(piece.from());
            }
        }
    }

    /// Files that an earlier daemon wrote, oldest first.
    synchronized void recovered(Iterable<? extends Map.Entry<Long, ? extends Owner>> found) {
        found.forEach(piece -> pieces.addLast(new Piece(piece.getValue(), piece.getKey())));
    }
}
