package dev.cay.server.store.postgres;

import dev.cay.server.store.SharedParser;
import dev.cay.server.store.Store;
import dev.cay.server.store.StoreView;
import dev.cay.server.store.Transaction;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Handles;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A PostgreSQL database. Each transaction has a connection of its own and sees one unchanging view of the database.
///
/// A transaction is retried after a conflict, and when its connection broke before the commit was sent, because nothing
/// was written then. When the answer to a commit is lost, the outcome is unknown: {@link Transaction#done} finds it out
/// before a retry.
public final class PostgresStore implements Store {
    private static final Logger log = LoggerFactory.getLogger(PostgresStore.class);

    /// How long a transaction is retried: longer than a server takes to restart or to be replaced, shorter than clients
    /// wait.
    private static final Duration LIMIT = Duration.ofSeconds(8);

    private static final Duration PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

    private final Connections connections;
    private final Jdbi jdbi;
    private final AtomicBoolean away = new AtomicBoolean();
    private volatile boolean closed;

    private PostgresStore(Connections connections) {
        this.connections = connections;
        this.jdbi = SharedParser.setOn(Jdbi.create(connections::take));
    }

    /// Connects, and brings the tables up to date.
    ///
    /// @param password null where the server asks for none
    /// @param most     connections at once
    public static PostgresStore open(PostgresAddress address, @Nullable String password, int most) {
        var connections = new Connections(address, password, most);
        try {
            connections.awaitFirst();
            new PostgresSchema(connections.source(), address).bringUpToDate();
            warn(connections);
            return new PostgresStore(connections);
        } catch (CayException e) {
            connections.close();
            throw e;
        } catch (SQLException | RuntimeException e) {
            connections.close();
            throw PostgresReport.cannotOpen(address, e);
        }
    }

    /// Warns about settings of the server that can lose acknowledged commits.
    private static void warn(Connections connections) throws SQLException {
        try (var connection = connections.take()) {
            for (String danger : PostgresReport.of(connection).dangers()) {
                log.atWarn().addKeyValue("danger", danger).log("a setting of the database server risks data loss");
            }
        }
    }

    @Override
    public <T> T write(Transaction<T> work) {
        return new Attempts<>(work, false).run();
    }

    @Override
    public <T> T read(Transaction<T> work) {
        return new Attempts<>(work, true).run();
    }

    @Override
    public StoreView view() {
        try {
            return new PostgresView(jdbi.open());
        } catch (RuntimeException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the database cannot be read now", e);
        }
    }

    @Override
    public boolean isShared() {
        return true;
    }

    @Override
    public void close() {
        closed = true;
        connections.close();
    }

    /// The runs of one transaction, until it is done, refused or out of time.
    private final class Attempts<T> {
        private final Transaction<T> work;
        private final boolean readOnly;
        private final long end = System.nanoTime() + LIMIT.toNanos();

        /// Whether a commit got no answer.
        private boolean uncertain;

        Attempts(Transaction<T> work, boolean readOnly) {
            this.work = work;
            this.readOnly = readOnly;
        }

        T run() {
            long pause = PAUSE.toMillis();
            while (true) {
                try {
                    T value = attempt();
                    noteBack();
                    return value;
                } catch (Exception e) {
                    noteAway(e);
                    boolean again = isWorthAnother(e);
                    if (!again || System.nanoTime() + pause * 1_000_000 > end) {
                        throw refusal(e);
                    }
                    log.atDebug().setCause(e).log("trying a transaction again");
                }
                pause(pause / 2 + ThreadLocalRandom.current().nextLong(pause));
                pause = Math.min(pause * 2, LONGEST_PAUSE.toMillis());
            }
        }

        private T attempt() throws Exception {
            if (closed) {
                throw new CayException(ErrorKind.UNAVAILABLE, "the database is closed");
            }
            // Closing the handle gives the connection back to the pool.
            try (var handle = jdbi.open()) {
                // A transaction on a broken connection can neither be committed nor rolled back.
                handle.getConfig(Handles.class).setForceEndTransactions(false);
                handle.setReadOnly(readOnly);
                handle.begin();
                try {
                    return within(handle);
                } catch (Exception | Error e) {
                    takeBack(handle, e);
                    throw e;
                }
            }
        }

        private T within(Handle handle) throws Exception {
            if (uncertain) {
                var earlier = work.done(handle);
                if (earlier.isPresent()) {
                    handle.rollback();
                    return earlier.get();
                }
            }
            T value = work.run(handle);
            try {
                handle.commit();
            } catch (RuntimeException e) {
                uncertain |= !readOnly && PostgresFailure.of(e) == PostgresFailure.AWAY;
                throw e;
            }
            return value;
        }

        private void takeBack(Handle handle, Throwable failure) {
            if (needsAnotherServer(PostgresFailure.of(failure))) {
                connections.discard(handle.getConnection());
                return;
            }
            try {
                handle.rollback();
            } catch (RuntimeException e) {
                log.atDebug().setCause(e).log("could not roll back");
                connections.discard(handle.getConnection());
            }
        }

        private boolean isWorthAnother(Exception failure) {
            var kind = PostgresFailure.of(failure);
            return (kind == PostgresFailure.CONFLICT || needsAnotherServer(kind))
                    && !Thread.currentThread().isInterrupted();
        }

        private boolean needsAnotherServer(PostgresFailure kind) {
            return kind == PostgresFailure.AWAY || (kind == PostgresFailure.READ_ONLY && !readOnly);
        }

        private RuntimeException refusal(Exception failure) {
            if (Thread.currentThread().isInterrupted()) {
                return new CayException(ErrorKind.CANCELED, "interrupted while waiting for the database", failure);
            }
            if (uncertain) {
                return new CayException(
                        ErrorKind.UNAVAILABLE,
                        "the database went away while it wrote; whether it did will show when it is back",
                        failure);
            }
            return switch (PostgresFailure.translate(failure)) {
                case RuntimeException e -> e;
                case Throwable e -> new CayException(ErrorKind.INTERNAL, "the database refused the work", e);
            };
        }
    }

    /// Logs an outage once, however many calls fail meanwhile.
    private void noteAway(Exception failure) {
        if (PostgresFailure.of(failure) == PostgresFailure.AWAY && away.compareAndSet(false, true)) {
            log.atWarn().addKeyValue("reason", failure.getMessage()).log("the database cannot be reached");
        }
    }

    private void noteBack() {
        if (away.get() && away.compareAndSet(true, false)) {
            log.atWarn().log("the database can be reached again");
        }
    }

    private static void pause(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
