package dev.cay.server.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.server.store.JsonColumn;
import dev.cay.server.store.Migrations;
import dev.cay.server.store.Rows;
import dev.cay.server.store.Store;
import dev.cay.server.store.StoreContract;
import dev.cay.server.store.Transaction;
import dev.cay.server.template.Origin;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.OwnPostgres;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NeedsRoot
final class PostgresStoreTest extends StoreContract {
    @TempDir
    private static Path directory = Path.of("unset");

    @SuppressWarnings("NullAway.Init")
    private static OwnPostgres server;

    @BeforeAll
    static void startServer() throws Exception {
        server = OwnPostgres.start(directory.resolve("server"));
    }

    @AfterAll
    static void stopServer() throws Exception {
        server.close();
    }

    @BeforeEach
    void empty() throws Exception {
        server.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    }

    @Override
    protected Store open() {
        return PostgresStore.open(PostgresAddress.parse(server.url()), server.password(), 6);
    }

    /// Rows with JSON, as the Cay with tables of version 9 wrote them.
    private static final List<String> OLD_ROWS = List.of(
            "INSERT INTO team (id, name, slug, created_at) VALUES ('t%1$s', 'team', 'slug%1$s', 1)",
            "INSERT INTO template (id, team_id, public, created_at, updated_at, spawn_count, build_count)"
                    + " VALUES ('p%1$s', 't%1$s', 1, 1, 1, 0, 1)",
            "INSERT INTO build (id, template_id, status, cpu_count, memory_mb, disk_size_mb, origin, wanted_tags,"
                    + " created_at, updated_at) VALUES ('b%1$s', 'p%1$s', 'READY', 1, 512, 1024,"
                    + " '{\"layers\":[\"a\"],\"defaultUser\":\"user\",\"later\":1}', '[\"v1\"]', 1, 1)",
            "INSERT INTO webhook (id, team_id, name, url, events, secret, enabled, created_at)"
                    + " VALUES ('w%1$s', 't%1$s', 'w', 'https://x', '[\"sandbox.lifecycle.created\"]', 's', 1, 1)");

    @Test
    void anOlderCayGoesOnWithTablesThatANewerOneHasAddedTo() throws Exception {
        var newer = new ArrayList<>(Migrations.POSTGRES.files());
        newer.add("dev/cay/server/store/later/V102__later.sql");
        assertThat(bring(upToNine())).isTrue();
        writeOld("1");
        assertThat(bring(new Migrations(newer))).isTrue();
        writeOld("2");
        assertThat(bring(upToNine()))
                .as("the older one does not refuse, and changes nothing")
                .isFalse();
        writeOld("3");
        assertThat(bring(new Migrations(newer))).as("and the newer one again").isFalse();
        var address = PostgresAddress.parse(server.url());
        try (var connections = new Connections(address, server.password(), 2);
                var connection = connections.source().getConnection();
                var statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT count(*), min(origin) FROM build")) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.getInt(1)).isEqualTo(3);
            assertThat(JsonColumn.read(rows.getString(2), Origin.class).layers())
                    .as("a field that is not known yet is left alone")
                    .containsExactly("a");
        }
    }

    private static Migrations upToNine() {
        return new Migrations(Migrations.POSTGRES.files().stream()
                .filter(name -> new Migrations(List.of(name)).version() <= 9)
                .toList());
    }

    private static boolean bring(Migrations migrations) throws Exception {
        var address = PostgresAddress.parse(server.url());
        try (var connections = new Connections(address, server.password(), 2)) {
            connections.awaitFirst();
            return new PostgresSchema(connections.source(), address, migrations).bringUpToDate();
        }
    }

    private static void writeOld(String number) throws Exception {
        var address = PostgresAddress.parse(server.url());
        try (var connections = new Connections(address, server.password(), 2);
                var connection = connections.source().getConnection();
                var statement = connection.createStatement()) {
            for (String row : OLD_ROWS) {
                statement.execute(row.formatted(number));
            }
        }
    }

    @Test
    void aTransactionGoesOnWithAnotherServerProcessWhenItsOwnIsEnded() {
        var runs = new AtomicInteger();
        try (var store = open()) {
            store.write(handle -> {
                Rows.insert(handle, "t1");
                if (runs.incrementAndGet() == 1) {
                    endOwnProcess(handle);
                }
                return Rows.count(handle);
            });
            assertThat(runs).hasValue(2);
            assertThat(store.read(Rows::count)).isEqualTo(1);
        }
    }

    /// The work tells by itself that it was written, and is not run again.
    @Test
    void aCommitWithoutAnAnswerIsLookedUp() {
        var work = new CommitsAndDies();
        try (var store = open()) {
            assertThat(store.write(work)).isEqualTo("found");
            assertThat(work.runs).isEqualTo(1);
            assertThat(store.read(Rows::count)).isEqualTo(1);
        }
    }

    /// Commits, and then ends the connection before anybody can tell.
    private static final class CommitsAndDies implements Transaction<String> {
        private int runs;

        @Override
        public String run(Handle handle) throws Exception {
            runs++;
            Rows.insert(handle, "t1");
            handle.execute("COMMIT");
            endOwnProcess(handle);
            return "ran";
        }

        @Override
        public Optional<String> done(Handle handle) {
            return Rows.count(handle) == 1 ? Optional.of("found") : Optional.empty();
        }
    }

    /// Begins to write while the server is away, and starts it. A start that takes longer than the store waits, as on a
    /// busy machine, shows nothing and is tried again.
    private String writeWhileItStarts(Store store, ExecutorService threads) throws Exception {
        for (int tries = 1; ; tries++) {
            long began = System.nanoTime();
            Future<String> waiting = threads.submit(() -> store.write(handle -> Rows.insert(handle, "waited")));
            server.start();
            boolean slow = System.nanoTime() - began > Duration.ofSeconds(4).toNanos();
            try {
                return waiting.get();
            } catch (ExecutionException e) {
                if (!slow || tries == 5) {
                    throw e;
                }
                server.kill();
            }
        }
    }

    @Test
    void aServerThatIsAwayIsOneSentenceAndWorkGoesOnWhenItIsBack() throws Exception {
        try (var store = open();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            store.write(handle -> Rows.insert(handle, "before"));
            server.kill();
            try {
                assertThatThrownBy(() -> store.read(Rows::count))
                        .isInstanceOfSatisfying(
                                CayException.class, e -> assertThat(e.kind()).isEqualTo(ErrorKind.UNAVAILABLE))
                        .hasMessageContaining("the database cannot be reached")
                        .hasMessageNotContaining("\n");
                assertThat(writeWhileItStarts(store, threads)).isEqualTo("waited");
                assertThat(store.read(Rows::count)).isEqualTo(2);
            } finally {
                if (!server.isRunning()) {
                    server.start();
                }
            }
        }
    }

    /// The server is killed under load again and again; whatever was acknowledged is there.
    @Test
    void everyAcknowledgedRowSurvivesTheDeathOfTheServer() throws Exception {
        try (var store = open();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var results = new ArrayList<Future<ArrayList<String>>>();
            for (int writer = 0; writer < 6; writer++) {
                String name = "w" + writer;
                results.add(threads.submit(() -> writeUntilStopped(store, name)));
            }
            for (int round = 0; round < 3; round++) {
                Thread.sleep(700);
                server.kill();
                server.start();
            }
            Thread.sleep(700);
            stopped = true;
            var acknowledged = new ArrayList<String>();
            for (var result : results) {
                acknowledged.addAll(result.get());
            }
            var found = store.read(handle -> handle.createQuery("SELECT id FROM team")
                    .mapTo(String.class)
                    .set());
            assertThat(acknowledged).hasSizeGreaterThan(50);
            assertThat(found).containsAll(acknowledged);
        }
    }

    private volatile boolean stopped;

    private ArrayList<String> writeUntilStopped(Store store, String name) {
        var acknowledged = new ArrayList<String>();
        for (int i = 0; !stopped; i++) {
            String id = name + "-" + i;
            try {
                store.write(new Once(id));
                acknowledged.add(id);
            } catch (CayException e) {
                assertThat(e.kind()).isEqualTo(ErrorKind.UNAVAILABLE);
            }
        }
        return acknowledged;
    }

    private record Once(String id) implements Transaction<String> {
        @Override
        public String run(Handle handle) {
            return Rows.insert(handle, id);
        }

        @Override
        public Optional<String> done(Handle handle) {
            return handle.createQuery("SELECT id FROM team WHERE id = :id")
                    .bind("id", id)
                    .mapTo(String.class)
                    .findFirst();
        }
    }

    @Test
    void commitsReachTheDiskEvenWhereTheServersSettingIsNotTo() throws Exception {
        server.query("ALTER ROLE cay SET synchronous_commit = off");
        try (var store = open()) {
            assertThat(store.<String>read(handle -> handle.createQuery("SHOW synchronous_commit")
                            .mapTo(String.class)
                            .one()))
                    .isEqualTo("on");
            assertThat(PostgresReport.of(PostgresAddress.parse(server.url()), server.password())
                            .dangers())
                    .anyMatch(danger -> danger.startsWith("synchronous_commit is off"));
        } finally {
            server.query("ALTER ROLE cay RESET synchronous_commit");
        }
    }

    @Test
    void theServersCertificateIsChecked() throws Exception {
        try (var other = OwnPostgres.start(directory.resolve("encrypted"))) {
            Path certificate = other.encrypt();
            Path copy = Files.copy(certificate, directory.resolve("ca.pem"));
            assertThat(report(other, "?sslmode=verify-full&sslrootcert=" + copy).tls())
                    .isTrue();
            assertThat(report(other, "").tls())
                    .as("on this machine, where it is offered")
                    .isTrue();
            assertThat(report(other, "?sslmode=disable").tls()).isFalse();
            assertThatThrownBy(() -> report(other, "?sslmode=verify-full"))
                    .as("signed by nobody whom Java trusts")
                    .hasMessageContaining("cannot be opened")
                    .hasMessageContaining("certification path");
        }
        assertThatThrownBy(() -> report(server, "?sslmode=require"))
                .as("it has no certificate")
                .hasMessageContaining("does not support SSL");
    }

    private static PostgresReport report(OwnPostgres of, String options) {
        return PostgresReport.of(PostgresAddress.parse(of.url() + options), of.password());
    }

    @Test
    void aWrongPasswordNamesTheSettingAndNotThePassword() {
        assertThatThrownBy(() -> PostgresStore.open(PostgresAddress.parse(server.url()), "wr0ng", 2))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("cannot be opened")
                .hasMessageContaining("store.passwordFile")
                .hasMessageNotContaining("wr0ng");
    }

    @Test
    void aDatabaseOfANewerCayIsUsedWhereThatOneOnlyAddedToIt() throws Exception {
        open().close();
        server.query("INSERT INTO flyway_schema_history (installed_rank, version, description, type, script,"
                + " installed_by, execution_time, success)"
                + " VALUES (99, '999', 'later', 'SQL', 'V999', 'cay', 1, true)");
        try (var store = open()) {
            store.write(handle -> Rows.insert(handle, "t1"));
        }
        server.query("COMMENT ON TABLE flyway_schema_history IS 'readable from version 998'");
        assertThatThrownBy(this::open).hasMessageContaining("newer Cay (its tables have version 999");
    }

    private static void endOwnProcess(Handle handle) throws Exception {
        long process =
                handle.createQuery("SELECT pg_backend_pid()").mapTo(Long.class).one();
        server.query("SELECT pg_terminate_backend(%d)".formatted(process));
    }
}
