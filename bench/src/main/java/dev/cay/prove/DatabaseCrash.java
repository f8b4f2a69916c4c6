package dev.cay.prove;

import dev.cay.life.Trees;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import dev.cay.testing.OwnPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/// Records are in PostgreSQL with a standby. The daemon is killed, the database is killed and started again, and at
/// last the database is killed for good and its standby takes its place, while clients go on.
final class DatabaseCrash {
    private static final int ROUNDS = 6;
    private static final int COUNTERS = 10;
    private static final Duration LIMIT = Duration.ofMinutes(3);

    /// Kills that failed while the database was away are repeated by clients, and ends of sandboxes by the daemon.
    private static final Duration CATCH_UP = Duration.ofSeconds(15);

    private DatabaseCrash() {}

    static Verdict run(Stage stage) throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("cay-postgres-");
        try (var primary = OwnPostgres.start(directory.resolve("primary"));
                var standby = primary.standby(directory.resolve("standby"))) {
            // From now on a commit waits until the standby has it.
            primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
            primary.query("SELECT pg_reload_conf()");
            var cay = stage.cay(settings(primary, standby));
            try (var script = Script.start(cay, DatabaseCrash.class, "crash.mjs", COUNTERS)) {
                script.next(LIMIT);
                for (int round = 1; round <= ROUNDS; round++) {
                    killDaemon(stage, cay, script, round);
                    killDatabase(stage, primary, script, round);
                }
                replace(stage, primary, standby, script);
                killDaemon(stage, cay, script, ROUNDS + 1);
                Thread.sleep(CATCH_UP);
                script.tell("finish");
                return judge(cay, script);
            }
        } finally {
            stage.endDaemons();
            Trees.delete(directory);
        }
    }

    private static Map<String, String> settings(OwnPostgres primary, OwnPostgres standby) {
        var settings = new HashMap<>(OwnCay.LARGE);
        settings.put(
                "store.url",
                "postgresql://cay@127.0.0.1:%d,127.0.0.1:%d/cay".formatted(primary.port(), standby.port()));
        settings.put("store.passwordFile", primary.passwordFile().toString());
        return settings;
    }

    private static void killDaemon(Stage stage, OwnCay cay, Script script, int round)
            throws IOException, InterruptedException {
        waitSome();
        cay.crash();
        cay.startAgain();
        check(stage, script, "daemon killed, " + round);
    }

    private static void killDatabase(Stage stage, OwnPostgres database, Script script, int round)
            throws IOException, InterruptedException {
        waitSome();
        database.kill();
        waitSome();
        database.start();
        check(stage, script, "database killed, " + round);
    }

    private static void replace(Stage stage, OwnPostgres primary, OwnPostgres standby, Script script)
            throws IOException, InterruptedException {
        waitSome();
        primary.kill();
        standby.promote();
        check(stage, script, "the standby took the place of the primary");
    }

    private static void check(Stage stage, Script script, String what) throws IOException, InterruptedException {
        script.tell("up");
        var answered = script.next(LIMIT);
        stage.say(String.format(
                Locale.ROOT,
                "%s: all sandboxes answer; %d creates so far, %d unacknowledged",
                what,
                answered.get("created").asInt(),
                answered.get("failed").asInt()));
        script.next(LIMIT);
    }

    private static void waitSome() throws InterruptedException {
        Thread.sleep(ThreadLocalRandom.current().nextInt(500, 4000));
    }

    private static Verdict judge(OwnCay cay, Script script) throws IOException, InterruptedException {
        var found = new CrashFindings(script.next(LIMIT));
        var wrong = found.lost(cay);
        var details = found.details();
        details.addAll(wrong);
        return new Verdict(
                wrong.isEmpty(),
                String.format(
                        Locale.ROOT,
                        "on PostgreSQL %d kills of the daemon, %d of the database and a promoted standby, %d creates; %d wrong",
                        ROUNDS + 1,
                        ROUNDS + 1,
                        found.created(),
                        wrong.size()),
                List.copyOf(details));
    }
}
