/// The store in a SQLite file: one writer that groups commits, a few readers.
///
/// Start at {@link dev.cay.server.store.sqlite.SqliteStore}.
@NullMarked
package dev.cay.server.store.sqlite;

import org.jspecify.annotations.NullMarked;
