package dev.cay.node.storage;

import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Space in the pool that is reserved for saving the memory of sandboxes. Thread-safe; all methods do file work.
///
/// The reservation consists of files of equal size whose space is allocated and never written, so no sandbox can use
/// it; deleting a file frees its space. There are many small files, because btrfs frees an extent only as a whole.
final class HeldBack {
    private static final Logger log = LoggerFactory.getLogger(HeldBack.class);
    private static final long PIECE = 64L << 20;

    private final Path directory;
    private final LongSupplier spare;
    private final Set<SandboxId> spending = new HashSet<>();
    /// The reservations; null until they were first set, and then all of an earlier daemon's reservation is shared.
    private @Nullable Map<SandboxId, Long> needs;

    private boolean refused;

    /// @param spare bytes of the pool that may still be held back
    HeldBack(Path directory, LongSupplier spare) {
        this.directory = directory;
        this.spare = spare;
    }

    /// The reservation of one sandbox while it is saved.
    final class Room implements PoolSpace {
        private final SandboxId id;
        private final long bytes;

        private Room(SandboxId id, long bytes) {
            this.id = id;
            this.bytes = bytes;
        }

        long bytes() {
            return bytes;
        }

        @Override
        public void close() {
            synchronized (HeldBack.this) {
                spending.remove(id);
            }
        }
    }

    /// Holds back so many bytes for each of these sandboxes, and nothing for others.
    synchronized void hold(Map<SandboxId, Long> bytes) {
        var known = Map.copyOf(bytes);
        needs = known;
        try {
            releaseSurplus(known);
            int missing = wanted(known) - pieces().size();
            while (missing > 0 && allocate()) {
                missing--;
            }
        } catch (IOException e) {
            log.atWarn().setCause(e).log("disk space for pauses cannot be reserved");
        }
    }

    /// Frees the reservation of the sandbox; none is made for it again until this is closed.
    synchronized Room spend(SandboxId id) {
        try {
            var known = needs;
            long bytes;
            if (known == null) {
                bytes = bytes();
                release(pieces());
            } else {
                bytes = known.getOrDefault(id, 0L);
                spending.add(id);
                releaseSurplus(known);
            }
            return new Room(id, bytes);
        } catch (IOException e) {
            spending.remove(id);
            throw new CayException(ErrorKind.INTERNAL, "the room that is held back for pauses cannot be used", e);
        }
    }

    synchronized long bytes() {
        try {
            return pieces().size() * PIECE;
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot list what is held back for pauses", e);
        }
    }

    private void releaseSurplus(Map<SandboxId, Long> known) throws IOException {
        var pieces = pieces();
        int count = wanted(known);
        if (count < pieces.size()) {
            release(pieces.subList(count, pieces.size()));
        }
    }

    private int wanted(Map<SandboxId, Long> known) {
        long bytes = known.entrySet().stream()
                .filter(need -> !spending.contains(need.getKey()))
                .mapToLong(Map.Entry::getValue)
                .sum();
        return Math.toIntExact((bytes + PIECE - 1) / PIECE);
    }

    private boolean allocate() throws IOException {
        boolean room = spare.getAsLong() >= PIECE;
        if (room) {
            Path piece = Files.createTempFile(directory, "room", "");
            try (var file = FileCalls.open(piece.toString(), FileCalls.WRITE, 0)) {
                FileCalls.allocate(file, PIECE);
            } catch (ErrnoException e) {
                Files.delete(piece);
                throw e;
            }
        } else if (!refused) {
            log.atWarn()
                    .addKeyValue("heldBackMB", bytes() >> 20)
                    .log("the pool is too full to reserve the disk space that pauses need");
        }
        refused = !room;
        return room;
    }

    private static void release(List<Path> pieces) throws IOException {
        for (Path piece : pieces) {
            Files.deleteIfExists(piece);
        }
    }

    private List<Path> pieces() throws IOException {
        try (var files = Files.list(directory)) {
            return files.toList();
        } catch (NoSuchFileException e) {
            return List.of();
        }
    }
}
