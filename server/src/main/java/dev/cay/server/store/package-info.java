/// Where acknowledged facts lie: in a SQLite file, or in a PostgreSQL database where an operator wants that.
///
/// Start at {@link dev.cay.server.store.Store}; the engines are in `sqlite` and `postgres`. No SQL of any capability is
/// here but the migrations; each capability keeps its own statements in its `XStore`, written for both engines, and
/// runs them inside these transactions.
@NullMarked
package dev.cay.server.store;

import org.jspecify.annotations.NullMarked;
