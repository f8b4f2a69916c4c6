package dev.cay.server.store;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;

/// The files that make the tables, in their order. Each is applied once to a database and never changed afterwards.
///
/// @param files resources of the class path
public record Migrations(List<String> files) {
    private static final Pattern VERSION = Pattern.compile(".*/V(\\d+)__.*");
    /// Files after this version only add tables, and columns that may be left out. So a Cay that knows the tables of
    /// this version works with later ones, and an operator can go back to the previous version.
    private static final int ONLY_ADDED_SINCE = 9;

    private static final String DIRECTORY = "dev/cay/server/store/";

    /// The migrations of every engine.
    public static final Migrations PORTABLE = of(
            "migrations/V1__first_house.sql",
            "migrations/V2__pause.sql",
            "migrations/V4__sizes.sql",
            "migrations/V5__builds.sql",
            "migrations/V7__webhooks.sql",
            "migrations/V9__keys.sql",
            "migrations/V10__people.sql",
            "migrations/V12__audit.sql",
            "migrations/V14__limits.sql",
            "migrations/V15__tokens.sql",
            "migrations/V16__networks.sql",
            "migrations/V17__volumes.sql",
            "migrations/V18__secrets.sql",
            "migrations/V19__template_networks.sql",
            "migrations/V20__egress_logs.sql",
            "migrations/V21__queues_and_rotation.sql",
            "migrations/V22__egress_logs_of_teams.sql",
            "migrations/V23__event_storage.sql",
            "migrations/V24__repeated_refresh_and_keys_of_builds.sql",
            "migrations/V25__disk_of_keys.sql");

    /// With those that only PostgreSQL needs.
    public static final Migrations POSTGRES = of(
            "migrations/V1__first_house.sql",
            "migrations/V2__pause.sql",
            "postgres/V3__numbers_and_order.sql",
            "migrations/V4__sizes.sql",
            "migrations/V5__builds.sql",
            "postgres/V6__order_of_builds.sql",
            "migrations/V7__webhooks.sql",
            "postgres/V8__order_of_webhooks.sql",
            "migrations/V9__keys.sql",
            "migrations/V10__people.sql",
            "migrations/V12__audit.sql",
            "migrations/V14__limits.sql",
            "migrations/V15__tokens.sql",
            "migrations/V16__networks.sql",
            "migrations/V17__volumes.sql",
            "migrations/V18__secrets.sql",
            "migrations/V19__template_networks.sql",
            "migrations/V20__egress_logs.sql",
            "migrations/V21__queues_and_rotation.sql",
            "migrations/V22__egress_logs_of_teams.sql",
            "migrations/V23__event_storage.sql",
            "migrations/V24__repeated_refresh_and_keys_of_builds.sql",
            "migrations/V25__disk_of_keys.sql");

    public Migrations {
        files = List.copyOf(files);
    }

    private static Migrations of(String... names) {
        var files = new ArrayList<String>();
        for (String name : names) {
            files.add(DIRECTORY + name);
        }
        return new Migrations(files);
    }

    /// The version that tables have when all files are applied.
    public int version() {
        var name = VERSION.matcher(files.getLast());
        if (!name.matches()) {
            throw new IllegalStateException("not the name of a migration: " + files.getLast());
        }
        return Integer.parseInt(name.group(1));
    }

    /// The version that a Cay must know to work with these tables, though it does not know them all.
    public int readableFrom() {
        return Math.min(ONLY_ADDED_SINCE, version());
    }

    /// A number made of the contents of all files; never 0.
    public int fingerprint() throws IOException {
        var sum = new CRC32();
        for (String name : files) {
            try (var text = Migrations.class.getClassLoader().getResourceAsStream(name)) {
                if (text == null) {
                    throw new FileNotFoundException(name + " is not in this build");
                }
                sum.update(text.readAllBytes());
            }
        }
        int value = (int) sum.getValue();
        return value == 0 ? 1 : value;
    }

    /// Applies those files that this database does not have yet.
    public void apply(DataSource source) {
        Flyway.configure()
                .dataSource(source)
                .locations(files.stream()
                        .map(name -> "classpath:" + name.substring(0, name.lastIndexOf('/')))
                        .distinct()
                        .toArray(String[]::new))
                .target(Integer.toString(version()))
                .load()
                .migrate();
    }
}
