/// The store in a PostgreSQL database: a small pool of connections, transactions that are retried.
///
/// Start at {@link dev.cay.server.store.postgres.PostgresStore}.
@NullMarked
package dev.cay.server.store.postgres;

import org.jspecify.annotations.NullMarked;
