package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.Root;
import dev.cay.cli.local.Stores;
import dev.cay.config.CayConfig;
import dev.cay.server.access.SandboxTokens;
import dev.cay.server.store.Store;
import dev.cay.server.store.StoreCopy;
import dev.cay.server.store.StoreOwner;
import dev.cay.server.store.postgres.PostgresAddress;
import dev.cay.server.store.postgres.PostgresReport;
import dev.cay.server.store.postgres.PostgresStore;
import dev.cay.server.store.sqlite.SqliteStore;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "store",
        mixinStandardHelpOptions = true,
        description = "Show where records are kept; or move them to another database.",
        subcommands = {StoreCommand.Migrate.class, StoreCommand.Claim.class},
        footer = {
            "",
            "Records are keys, templates, sandboxes and events. What sandboxes hold is not among them.",
            "",
            "Examples:",
            "  sudo ./cay store",
            "  sudo ./cay store migrate --to postgresql://cay@db.example.org/cay --password-file /etc/cay/db-password"
        })
final class StoreCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Override
    public Integer call() throws IOException {
        var config = options.config();
        Root.require("store", "to look at the database", options.command("store"));
        var address = Stores.address(config);
        if (address.isPresent()) {
            var report = PostgresReport.of(
                    address.get(), Stores.password(config.store().passwordFile()));
            System.out.println("engine   PostgreSQL " + report.version());
            System.out.println("database " + address.get() + (report.tls() ? ", encrypted" : ", not encrypted"));
            report.dangers().forEach(danger -> System.out.println("warning  " + danger));
            return 0;
        }
        Path file = Stores.file(config);
        System.out.println("engine   SQLite");
        System.out.println("database "
                + (Files.exists(file) ? file + ", " + PoolCommand.size(Files.size(file)) : file + ", not made yet"));
        return 0;
    }

    /// Takes the lock, because the daemon must be down: otherwise it would write to one database what the other one
    /// never gets.
    private static InstanceLock whileDown(CayConfig config, ConfigOptions options) throws IOException {
        Files.createDirectories(config.stateDir());
        return InstanceLock.take(config.stateDir())
                .orElseThrow(() -> new CayException(
                        ErrorKind.CONFLICT,
                        "Cay is running; stop it first (sandboxes keep running): sudo " + options.command("down")));
    }

    @Command(
            name = "migrate",
            mixinStandardHelpOptions = true,
            description = "Copy all records to another database and compare every row.",
            footer = {
                "",
                "Cay must be stopped; sandboxes keep running. The old database is not changed. Afterwards set store.url",
                "to the new one, or remove it for `--to sqlite`, and start Cay.",
                "",
                "Examples:",
                "  sudo ./cay store migrate --to postgresql://cay@db.example.org/cay --password-file /etc/cay/db-password",
                "  sudo ./cay store migrate --to sqlite"
            })
    static final class Migrate implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Option(
                names = "--to",
                required = true,
                paramLabel = "URL",
                description = "postgresql://USER@HOST/DATABASE, or sqlite for the file in stateDir.")
        private String to = "";

        @Option(
                names = "--password-file",
                paramLabel = "FILE",
                description = "Holds the password of the new database's user.")
        private @Nullable Path passwordFile;

        @Override
        public Integer call() throws IOException {
            var config = options.config();
            Root.require("store migrate", "to read records", options.command("store migrate --to " + to));
            requireOther(config);
            try (var _ = whileDown(config, options);
                    var from = Stores.open(config);
                    var target = target(config)) {
                long rows = new StoreCopy(from, target, new Paced()).run();
                System.out.println("copied and compared %d rows".formatted(rows));
            }
            System.out.println(
                    isFile()
                            ? "now remove store.url from the configuration and start Cay"
                            : "now set store.url to %s%s and start Cay"
                                    .formatted(
                                            to, passwordFile == null ? "" : ", store.passwordFile to " + passwordFile));
            return 0;
        }

        private boolean isFile() {
            return to.equals("sqlite");
        }

        private void requireOther(CayConfig config) {
            if (!isFile() && !PostgresAddress.isOne(to)) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "--to must be postgresql://USER@HOST/DATABASE or sqlite, not \"%s\"".formatted(to));
            }
            boolean same = isFile()
                    ? config.store().url() == null
                    : to.equals(config.store().url());
            if (same) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, "--to names the database that is in use already");
            }
        }

        /// Keeps an existing file, which is an older store of this Cay. Prints the progress every few seconds,
        /// however many rows there are.
        private static final class Paced implements BiConsumer<String, Long> {
            private static final Duration EVERY = Duration.ofSeconds(2);

            private String table = "";
            private long spoke;

            @Override
            public void accept(String now, Long rows) {
                if (!now.equals(table) || System.nanoTime() - spoke > EVERY.toNanos()) {
                    table = now;
                    spoke = System.nanoTime();
                    System.out.println("  .. %s: %d".formatted(now, rows));
                }
            }
        }

        private Store target(CayConfig config) throws IOException {
            if (!isFile()) {
                return PostgresStore.open(
                        PostgresAddress.parse(to),
                        Stores.password(passwordFile),
                        config.store().connections());
            }
            Path file = Stores.file(config);
            if (Files.exists(file)) {
                String day =
                        Instant.now().truncatedTo(ChronoUnit.SECONDS).toString().replace(":", "");
                Path kept = file.resolveSibling("%s.before-%s".formatted(file.getFileName(), day));
                for (String end : new String[] {"", "-wal", "-shm"}) {
                    Path old = file.resolveSibling(file.getFileName() + end);
                    if (Files.exists(old)) {
                        Files.move(old, kept.resolveSibling(kept.getFileName() + end));
                    }
                }
                System.out.println("  .. kept the old file as " + kept);
            }
            return SqliteStore.open(file);
        }
    }

    @Command(
            name = "claim",
            mixinStandardHelpOptions = true,
            description = "Take over the database of another Cay that will never run again.",
            footer = {
                "",
                "Cay must be down. Sandboxes on record that do not run on this machine are taken for ended at the next",
                "start, so never claim the database of a Cay that lives."
            })
    static final class Claim implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Override
        public Integer call() throws IOException {
            var config = options.config();
            Root.require("store claim", "to write records", options.command("store claim"));
            try (var _ = whileDown(config, options);
                    var store = Stores.open(config)) {
                var tokens = SandboxTokens.open(config.stateDir().resolve("secret"), new SecureRandom());
                StoreOwner.claim(store, tokens.fingerprint(), Instant.now());
            }
            System.out.println("the database is this Cay's own now");
            return 0;
        }
    }
}
