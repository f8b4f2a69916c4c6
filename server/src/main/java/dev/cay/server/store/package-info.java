/// The database of records: a SQLite file, or a PostgreSQL database if the operator configures one.
///
/// Start at {@link dev.cay.server.store.Store}; the engines are in `sqlite` and `postgres`. This package has only the
/// SQL of migrations; each other package keeps its statements in its `XStore`, written for both engines, and runs them
/// inside these transactions.
@NullMarked
package dev.cay.server.store;

import org.jspecify.annotations.NullMarked;
