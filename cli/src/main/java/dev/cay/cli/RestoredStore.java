package dev.cay.cli;

import dev.cay.cli.local.Stores;
import dev.cay.config.CayConfig;
import dev.cay.server.store.StoreCopy;
import dev.cay.server.store.sqlite.SqliteStore;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// The records of a restore in the database of `store.url`.
///
/// They are copied before the restored files take their places, and used after that: a copy that was not ended is begun
/// again by the next restore. A note among the files says that it is to be ended.
final class RestoredStore {
    static final String NOTE = "store.restored";

    private final CayConfig config;

    RestoredStore(CayConfig config) {
        this.config = config;
    }

    /// @throws CayException when the database has records
    void requireFree() {
        if (!isDatabase()) {
            return;
        }
        try (var to = Stores.open(config)) {
            StoreCopy.requireFree(to);
        } catch (CayException e) {
            throw e.kind() == ErrorKind.CONFLICT
                    ? new CayException(
                            ErrorKind.CONFLICT,
                            "the database of store.url has records already; name an empty one: " + e.userMessage(),
                            e)
                    : e;
        }
    }

    /// Copies the records of a file there, and deletes the file.
    ///
    /// @param directory the draft of a state directory
    void fill(Path directory) throws IOException {
        if (!isDatabase()) {
            return;
        }
        System.err.println("  .. copying records to the database of store.url");
        try (var from = SqliteStore.open(directory.resolve("cay.db"));
                var to = Stores.open(config)) {
            new StoreCopy(from, to, (_, _) -> {}).copy();
        }
        try (var files = Files.newDirectoryStream(directory, "cay.db*")) {
            for (Path each : files) {
                Files.delete(each);
            }
        }
        Files.createFile(directory.resolve(NOTE));
    }

    /// Has the records used, if all files are in their places and nobody has done it yet.
    void end() throws IOException {
        Path note = config.stateDir().resolve(NOTE);
        if (!Files.exists(note)) {
            return;
        }
        if (isDatabase()) {
            try (var to = Stores.open(config)) {
                StoreCopy.end(to);
            }
        }
        Files.delete(note);
    }

    private boolean isDatabase() {
        return Stores.address(config).isPresent();
    }
}
