package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.life.Trees;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Times;
import dev.cay.testing.OwnPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/// What a platform costs that many share: the same calls on a daemon with one team and on one with ten thousand, by
/// turns, on both engines; and what one team notices of another that asks for all it can get.
final class Sharing implements Measurement {
    private static final int TEAMS = 10_000;
    private static final int KEYS = 10;
    private static final int WARM_UP = 20;
    private static final int TIMES = 200;
    private static final int CREATES = 40;
    private static final int LOUD_CLIENTS = 8;

    @Override
    public String name() {
        return "teams";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        var figures = new ArrayList<Figure>();
        Path directory = Files.createTempDirectory("cay-postgres-");
        try (var empty = OwnPostgres.start(directory.resolve("empty"));
                var full = OwnPostgres.start(directory.resolve("full"))) {
            progress.detail("SQLite: one team and ten thousand");
            try (var one = OwnCay.start(Map.of());
                    var many = OwnCay.start(Map.of())) {
                many.crash();
                FilledStore.fillTeams("jdbc:sqlite:" + many.directory().resolve("state/cay.db"), null, TEAMS, KEYS);
                many.startAgain();
                figures.addAll(crowd("SQLite", one, many));
                progress.detail("two teams, of which one asks for all it can get");
                figures.addAll(burst(one, many));
            }
            progress.detail("PostgreSQL: one team and ten thousand");
            try (var one = OwnCay.start(settings(empty));
                    var many = OwnCay.start(settings(full))) {
                many.crash();
                FilledStore.fillTeams(
                        "jdbc:postgresql://127.0.0.1:%d/cay".formatted(full.port()), full.password(), TEAMS, KEYS);
                many.startAgain();
                figures.addAll(crowd("PostgreSQL", one, many));
            }
        } finally {
            Trees.delete(directory);
        }
        return figures;
    }

    private static Map<String, String> settings(OwnPostgres database) {
        var settings = new HashMap<String, String>();
        settings.put("store.url", database.url());
        settings.put("store.passwordFile", database.passwordFile().toString());
        return settings;
    }

    /// A client's milliseconds.
    private record Cost(Times call, Times create) {}

    /// One call here, the next there: what slows the machine down slows both.
    private static List<Figure> crowd(String engine, OwnCay one, OwnCay many) throws Exception {
        var clients = List.of(TeamClient.of(one, "measured", null), TeamClient.of(many, "measured", null));
        var calls = List.of(new ArrayList<Double>(), new ArrayList<Double>());
        var creates = List.of(new ArrayList<Double>(), new ArrayList<Double>());
        for (int i = 0; i < WARM_UP + TIMES; i++) {
            for (int which = 0; which < 2; which++) {
                double took = clients.get(which).list();
                if (i >= WARM_UP) {
                    calls.get(which).add(took);
                }
            }
        }
        for (int i = 0; i < WARM_UP + CREATES; i++) {
            for (int which = 0; which < 2; which++) {
                double took = clients.get(which).create();
                if (i >= WARM_UP) {
                    creates.get(which).add(took);
                }
            }
        }
        String filled = "with %,d teams and %,d keys, %s".formatted(TEAMS, TEAMS * KEYS, engine);
        String method = "plain HTTP, by turns, n=";
        return List.of(
                Figure.of("list " + filled + ", p50", "ms", times(calls.get(1)).p50(), method + TIMES)
                        .beside("with one team", times(calls.get(0)).p50())
                        .atMostTimes(1.2),
                Figure.of(
                                "create " + filled + ", p50",
                                "ms",
                                times(creates.get(1)).p50(),
                                method + CREATES)
                        .beside("with one team", times(creates.get(0)).p50())
                        .atMostTimes(1.2));
    }

    /// The quiet team beside a loud one, which is held to its limits. The same flood at another Cay shows what the loud
    /// one's clients take of the machine's processors, whoever answers them.
    private static List<Figure> burst(OwnCay cay, OwnCay other) throws Exception {
        String limits = "{\"profile\": \"hobby\", \"apiCallsPer30s\": 3000}";
        var quiet = TeamClient.of(cay, "quiet", "{\"profile\": \"pro\"}");
        var refused = new AtomicInteger();
        var elsewhere = beside(TeamClient.of(other, "loud", limits), quiet, new AtomicInteger());
        var here = beside(TeamClient.of(cay, "loud", limits), quiet, refused);
        String method = "%d clients of the other team send without pause; %d of their requests were refused"
                .formatted(LOUD_CLIENTS, refused.get());
        return List.of(
                Figure.of(
                                "list beside a team at its limits, p50",
                                "ms",
                                here.call().p50(),
                                method)
                        .beside(
                                "the same clients at another Cay",
                                elsewhere.call().p50())
                        .atMostTimes(1.5),
                Figure.of(
                                "create beside a team at its limits, p50",
                                "ms",
                                here.create().p50(),
                                method)
                        .beside(
                                "the same clients at another Cay",
                                elsewhere.create().p50())
                        .atMostTimes(1.5));
    }

    private static Cost beside(TeamClient loud, TeamClient quiet, AtomicInteger refused) throws Exception {
        var over = new AtomicBoolean();
        var threads = new ArrayList<Thread>();
        for (int i = 0; i < LOUD_CLIENTS; i++) {
            threads.add(Thread.startVirtualThread(() -> loud.flood(over, refused)));
        }
        try {
            return cost(quiet);
        } finally {
            over.set(true);
            for (var thread : threads) {
                thread.join();
            }
        }
    }

    private static Cost cost(TeamClient client) throws IOException, InterruptedException {
        var calls = new ArrayList<Double>();
        var creates = new ArrayList<Double>();
        for (int i = 0; i < TIMES; i++) {
            calls.add(client.list());
        }
        for (int i = 0; i < CREATES; i++) {
            creates.add(client.create());
            // Within its own rate.
            Thread.sleep(200);
        }
        return new Cost(times(calls), times(creates));
    }

    private static Times times(List<Double> milliseconds) {
        return new Times(milliseconds.stream().mapToDouble(Double::doubleValue).toArray());
    }
}
