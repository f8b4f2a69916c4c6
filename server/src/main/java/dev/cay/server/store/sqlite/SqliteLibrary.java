package dev.cay.server.store.sqlite;

import dev.cay.life.RootOnly;
import dev.cay.life.Trees;
import java.io.IOException;
import java.nio.file.Path;
import org.sqlite.SQLiteJDBCLoader;

/// SQLite's native code, which its driver unpacks from a jar to a file and loads from there.
///
/// The driver removes that file when the process ends normally, and leaves it in the host's directory for temporary
/// files when the process is killed: a megabyte for each killed daemon. This class removes the file as soon as it is
/// loaded.
final class SqliteLibrary {
    private static boolean loaded;

    private SqliteLibrary() {}

    /// Loads the library once in a process; later calls do nothing.
    ///
    /// @param directory for the unpacked file only; files that a killed process left there are removed
    static synchronized void load(Path directory) throws IOException {
        if (loaded) {
            return;
        }
        Trees.delete(directory);
        RootOnly.directory(directory);
        System.setProperty("org.sqlite.tmpdir", directory.toString());
        try {
            SQLiteJDBCLoader.initialize();
        } catch (Exception e) {
            throw new IOException(
                    "SQLite's library cannot be loaded from %s: %s".formatted(directory, e.getMessage()), e);
        } finally {
            Trees.delete(directory);
        }
        loaded = true;
    }
}
