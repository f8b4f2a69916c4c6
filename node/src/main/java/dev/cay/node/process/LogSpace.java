package dev.cay.node.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;

/// The disk space for the output of one process: files of equal size, of which the oldest is removed first, whatever
/// stream it belongs to. So a silent stream leaves its share to a loud one. Thread-safe.
final class LogSpace {
    /// Number of files that hold the promised amount; each stream has one more, which is being written.
    private static final int FULL = 4;

    /// How far a reader may be behind, in files: one file of each stream may be partly used at both ends, and all must
    /// fit.
    private static final int WINDOW = 2;

    /// The writer of files.
    interface Owner {
        /// Whether it still writes to the file that begins there.
        boolean writesAt(long from);

        /// Deletes the file that begins there. Does file work.
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
        // With less than a piece of output, neither writers nor readers could proceed.
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

    /// Notes a new file of a log, for which the oldest one is removed. Does file work.
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
