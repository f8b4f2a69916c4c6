package dev.cay.server.store;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// Copies all records of one store to an empty other one, of any engine, and then reads both again and compares every
/// row. Nothing else may change either of them meanwhile; of a store in use, its {@link StoreView} is copied.
///
/// An interrupted copy leaves a marker, with which no Cay uses that store, and the next copy starts again.
public final class StoreCopy {
    /// A table, with the columns that order its rows.
    private record Table(String name, List<String> key) {}

    private static final String OWNERS = "store_owner";

    /// All tables, referenced ones first; a test compares the list with the engines.
    private static final List<Table> TABLES = List.of(
            new Table("team", List.of("id")),
            new Table("api_key", List.of("id")),
            new Table("template", List.of("id")),
            new Table("template_alias", List.of("namespace", "alias")),
            new Table("sandbox", List.of("id")),
            new Table("event", List.of("sequence")),
            new Table("event_part", List.of("id")),
            new Table("build", List.of("id")),
            new Table("build_tag", List.of("template_id", "tag")),
            new Table("volume", List.of("id")),
            new Table("webhook", List.of("id")),
            new Table("webhook_message", List.of("sequence")),
            new Table("webhook_attempt", List.of("id")),
            new Table("audit", List.of("sequence")),
            new Table("audit_head", List.of("id")),
            new Table("audit_removed", List.of("last_sequence")),
            new Table("audit_export", List.of("target")),
            new Table("person", List.of("id")),
            new Table("member", List.of("person_id", "team_id")),
            new Table("sign_in_link", List.of("hash")),
            new Table("sign_in", List.of("id")),
            new Table("sign_in_secret", List.of("hash")),
            new Table("secret", List.of("id")),
            new Table("egress_log", List.of("sandbox_id")),
            new Table(OWNERS, List.of("id")));

    /// How many rows are read, written or compared in one transaction.
    private static final int PORTION = 500;

    private final StoreReading from;
    private final Store to;
    private final BiConsumer<String, Long> progress;

    /// @param progress called with a table and the number of its rows that are done, from time to time
    public StoreCopy(StoreReading from, Store to, BiConsumer<String, Long> progress) {
        this.from = from;
        this.to = to;
        this.progress = progress;
    }

    public static List<String> tables() {
        return TABLES.stream().map(Table::name).toList();
    }

    /// Copies all, and has the other store used from now on.
    ///
    /// @return how many rows there are in all
    /// @throws CayException when the other store is in use, or a row is not the same there afterwards
    public long run() {
        long rows = copy();
        end(to);
        compare(TABLES.getLast());
        return rows;
    }

    /// Whether a store takes a copy: it has no records, or those of a copy that was not ended.
    ///
    /// @throws CayException when it does not
    public static void requireFree(Store to) {
        to.read(target -> StoreOwner.isCopyUnderWay(target)
                ? 0
                : TABLES.stream().mapToInt(table -> requireEmpty(target, table)).sum());
    }

    /// Has a store used that {@link #copy} filled. Does nothing where that was done before.
    public static void end(Store to) {
        to.write(StoreOwner::endCopy);
    }

    /// Copies all but leaves the marker: another copy begins again, until {@link #end}.
    ///
    /// @return how many rows there are in all
    /// @throws CayException when the other store is in use, or a row is not the same there afterwards
    public long copy() {
        if (from.read(StoreOwner::isCopyUnderWay)) {
            throw new CayException(ErrorKind.CONFLICT, "the database to copy holds an unfinished copy itself");
        }
        to.write(StoreCopy::prepare);
        long rows = 0;
        for (var table : TABLES) {
            rows += copy(table);
        }
        to.write(StoreCopy::numberOnFrom);
        for (var table : TABLES) {
            if (!table.name().equals(OWNERS)) {
                compare(table);
            }
        }
        return rows;
    }

    private static int prepare(Handle target) {
        boolean again = StoreOwner.isCopyUnderWay(target);
        int rows = 0;
        for (var table : TABLES.reversed()) {
            rows += again ? target.execute("DELETE FROM " + table.name()) : requireEmpty(target, table);
        }
        StoreOwner.beginCopy(target);
        return rows;
    }

    private static int requireEmpty(Handle target, Table table) {
        long rows = target.createQuery("SELECT count(*) FROM " + table.name())
                .mapTo(Long.class)
                .one();
        if (rows > 0) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "the other database is not empty: table '%s' has %d rows; give an empty one"
                            .formatted(table.name(), rows));
        }
        return 0;
    }

    private long copy(Table table) {
        long rows = 0;
        Map<String, Object> last = null;
        while (true) {
            var after = last;
            var portion = from.read(source -> portion(source, table, after));
            if (portion.isEmpty()) {
                return rows;
            }
            to.write(target -> insert(target, table, portion));
            rows += portion.size();
            progress.accept(table.name(), rows);
            last = portion.getLast();
        }
    }

    private void compare(Table table) {
        Map<String, Object> last = null;
        long rows = 0;
        while (true) {
            var after = last;
            var wanted = from.read(source -> portion(source, table, after));
            var there = to.read(target -> portion(target, table, after));
            if (!text(wanted).equals(text(there))) {
                throw new CayException(
                        ErrorKind.INTERNAL,
                        "table '%s' is not the same after the copy, somewhere from row %d on; do not use the other database"
                                .formatted(table.name(), rows + 1));
            }
            if (wanted.isEmpty()) {
                return;
            }
            rows += wanted.size();
            last = wanted.getLast();
        }
    }

    private static List<Map<String, Object>> portion(Handle handle, Table table, @Nullable Map<String, Object> after) {
        String key = String.join(", ", table.key());
        String marks = String.join(", ", Collections.nCopies(table.key().size(), "?"));
        var query = handle.createQuery("SELECT * FROM %s %s ORDER BY %s LIMIT %d"
                .formatted(table.name(), after == null ? "" : "WHERE (%s) > (%s)".formatted(key, marks), key, PORTION));
        if (after != null) {
            for (int i = 0; i < table.key().size(); i++) {
                query.bind(i, after.get(table.key().get(i)));
            }
        }
        return query.map((row, context) -> row(row)).list();
    }

    /// Inserts rows. Inserting them twice has no effect, because nothing else writes there.
    private static int insert(Handle target, Table table, List<Map<String, Object>> rows) throws SQLException {
        var columns = List.copyOf(rows.getFirst().keySet());
        String marks = String.join(", ", Collections.nCopies(columns.size(), "?"));
        try (var insert = target.getConnection()
                .prepareStatement("INSERT INTO %s (%s) VALUES (%s) ON CONFLICT DO NOTHING"
                        .formatted(table.name(), String.join(", ", columns), marks))) {
            for (var row : rows) {
                for (int i = 0; i < columns.size(); i++) {
                    insert.setObject(i + 1, row.get(columns.get(i)));
                }
                insert.addBatch();
            }
            return insert.executeBatch().length;
        }
    }

    /// Moves the sequence of events and messages behind the copied numbers, which this engine did not assign.
    private static long numberOnFrom(Handle target) throws SQLException {
        if (!target.getConnection().getMetaData().getDatabaseProductName().equals("PostgreSQL")) {
            return 0;
        }
        long numbered = 0;
        for (String table : List.of("event", "webhook_message")) {
            numbered +=
                    target.createQuery("""
                            SELECT setval(pg_get_serial_sequence('%1$s', 'sequence'),
                                coalesce((SELECT max(sequence) FROM %1$s), 0) + 1, false)
                            """.formatted(table)).mapTo(Long.class).one();
        }
        return numbered;
    }

    @SuppressWarnings("NullAway") // columns may be null, which a map's values cannot say
    private static Map<String, Object> row(ResultSet row) throws SQLException {
        var values = new HashMap<String, Object>();
        var columns = row.getMetaData();
        for (int i = 1; i <= columns.getColumnCount(); i++) {
            values.put(columns.getColumnName(i), row.getObject(i));
        }
        return values;
    }

    /// Engines give the same number as one type or another.
    private static List<Map<String, String>> text(List<Map<String, Object>> rows) {
        return rows.stream()
                .map(row -> {
                    var all = new HashMap<String, String>();
                    row.forEach((column, value) -> all.put(column, Objects.toString(value)));
                    return (Map<String, String>) all;
                })
                .toList();
    }
}
