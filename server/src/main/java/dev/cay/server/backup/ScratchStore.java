package dev.cay.server.backup;

import dev.cay.life.RootOnly;
import dev.cay.life.Trees;
import dev.cay.server.store.StoreCopy;
import dev.cay.server.store.StoreView;
import dev.cay.server.store.sqlite.SqliteStore;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The SQLite file to which records are copied before they are sent, whatever engine they come from, so that either
/// engine can restore them.
public final class ScratchStore {
    private static final Logger log = LoggerFactory.getLogger(ScratchStore.class);

    private final Path directory;

    /// @param directory of its own; nothing in it outlives a backup
    public ScratchStore(Path directory) {
        this.directory = directory;
    }

    /// Begins with an empty file: a killed daemon may have left one.
    Copy open() {
        try {
            Trees.delete(directory);
            RootOnly.directory(directory);
            return new Copy();
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "there is no room for a copy of the records: " + e.getMessage(), e);
        }
    }

    /// Removes what a killed daemon left.
    public void clear() {
        try {
            Trees.delete(directory);
        } catch (IOException e) {
            log.atWarn().setCause(e).log("the copy of the records that a backup made cannot be removed");
        }
    }

    /// One copy, deleted when it is closed.
    final class Copy implements AutoCloseable {
        Path file() {
            return directory.resolve("cay.db");
        }

        /// Copies all rows and compares them.
        void fill(StoreView view) {
            try (var to = SqliteStore.open(file())) {
                new StoreCopy(view, to, (_, _) -> {}).run();
            }
        }

        @Override
        public void close() {
            clear();
        }
    }
}
