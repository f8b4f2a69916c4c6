package dev.cay.prove;

import dev.cay.life.Trees;
import dev.cay.testing.OwnPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/// A receiver of webhooks fails, hangs, breaks off and comes back, and the daemon is killed at every step of a
/// delivery and at random: each event arrives at least once, in order, and none is invented.
final class WebhooksProof implements Proof {
    private static final String SQLITE = "sqlite";
    private static final String POSTGRES = "postgres";

    @Override
    public String name() {
        return "webhooks";
    }

    @Override
    public String promise() {
        return "a receiver of webhooks fails, hangs, breaks off and comes back, and the daemon is killed at every step of"
                + " a delivery and at random, with records in SQLite and in PostgreSQL: each event arrives at least once,"
                + " signed, in the order of its sandbox, and none is invented";
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        var parts = stage.chosen(List.of(SQLITE, POSTGRES), Function.identity());
        var verdicts = new ArrayList<Verdict>();
        if (parts.contains(SQLITE)) {
            verdicts.add(play(stage, SQLITE, Map.of()));
        }
        if (parts.contains(POSTGRES)) {
            Path directory = Files.createTempDirectory("cay-postgres-");
            try (var database = OwnPostgres.start(directory.resolve("server"))) {
                verdicts.add(play(
                        stage,
                        POSTGRES,
                        Map.of(
                                "store.url",
                                database.url(),
                                "store.passwordFile",
                                database.passwordFile().toString())));
            } finally {
                Trees.delete(directory);
            }
        }
        return Verdict.all(verdicts);
    }

    private static Verdict play(Stage stage, String part, Map<String, String> more) throws Exception {
        var settings = new HashMap<>(
                Map.of("sandboxes.spares", "2", "webhooks.allow", "127.0.0.1", "java.opts", FaultAgent.option()));
        settings.putAll(more);
        try (var receiver = new HookReceiver()) {
            var cay = stage.cay(settings);
            try {
                return new HookTrials(stage, cay, receiver, part).run();
            } finally {
                // The database must not go before the daemon.
                stage.endDaemons();
            }
        }
    }
}
