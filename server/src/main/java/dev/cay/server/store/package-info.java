/// Where acknowledged facts lie: one SQLite file, one writer that groups commits, a few readers.
///
/// Start at {@link dev.cay.server.store.Store}. No SQL of any capability is here but the migrations; each capability
/// keeps its own statements in its `XStore` and runs them inside these transactions.
@NullMarked
package dev.cay.server.store;

import org.jspecify.annotations.NullMarked;
