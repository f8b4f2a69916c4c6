package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.life.Trees;
import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import dev.cay.platform.Times;
import dev.cay.testing.OwnPostgres;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// What records cost: the same calls with records in SQLite and in PostgreSQL, by turns. First with empty
/// databases, then with a million finished sandboxes in each and after a hundred million lines in the logs of
/// sandboxes.
final class Recording implements Measurement {
    private static final int FINISHED = 1_000_000;
    private static final int LOG_LINES = 100_000_000;
    private static final int WARM_UP = 15;
    private static final int TIMES = 60;
    private static final int LIVING = 50;

    private final HttpClient http = HttpClient.newHttpClient();

    /// Milliseconds of one store.
    private record Cost(Times create, Times list, Times events) {}

    @Override
    public String name() {
        return "store";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        Path directory = Files.createTempDirectory("cay-postgres-");
        try (var database = OwnPostgres.start(directory.resolve("database"));
                var file = OwnCay.start(OwnCay.LARGE);
                var postgres = OwnCay.start(settings(database))) {
            var empty = measure(List.of(file, postgres));
            progress.detail("a million finished sandboxes in each");
            file.crash();
            postgres.crash();
            FilledStore.fill("jdbc:sqlite:" + file.directory().resolve("state/cay.db"), null, FINISHED);
            FilledStore.fill(
                    "jdbc:postgresql://127.0.0.1:%d/cay".formatted(database.port()), database.password(), FINISHED);
            progress.detail("a hundred million lines in the logs of sandboxes");
            Path logs = logs(file);
            FilledLogs.fill(logs, LOG_LINES);
            Files.copy(logs, logs(postgres), StandardCopyOption.REPLACE_EXISTING);
            file.startAgain();
            postgres.startAgain();
            var full = measure(List.of(file, postgres));
            return figures(empty, full);
        } finally {
            Trees.delete(directory);
        }
    }

    private static Path logs(OwnCay cay) {
        return cay.directory().resolve("state/records/sandbox-logs.ring");
    }

    private static Map<String, String> settings(OwnPostgres database) {
        var settings = new HashMap<>(OwnCay.LARGE);
        settings.put("store.url", database.url());
        settings.put("store.passwordFile", database.passwordFile().toString());
        return settings;
    }

    private static List<Figure> figures(List<Cost> empty, List<Cost> full) {
        var figures = new ArrayList<Figure>();
        String method = "plain HTTP, by turns, n=" + TIMES;
        figures.addAll(engines(empty, "", method));
        figures.addAll(engines(full, ", a million finished", method));
        for (int i = 0; i < 2; i++) {
            String where = i == 0 ? "SQLite" : "PostgreSQL";
            figures.add(ms(
                            "create with a million finished sandboxes, " + where,
                            full.get(i).create(),
                            method)
                    .beside("with none", empty.get(i).create().p50())
                    .atMostTimes(1.5));
            figures.add(ms(
                            "list with a million finished sandboxes, " + where,
                            full.get(i).list(),
                            method)
                    .beside("with none", empty.get(i).list().p50())
                    .atMostTimes(1.5));
        }
        return figures;
    }

    /// The one engine beside the other.
    private static List<Figure> engines(List<Cost> costs, String with, String method) {
        var sqlite = costs.getFirst();
        var postgres = costs.getLast();
        return List.of(
                ms("create, records in PostgreSQL" + with, postgres.create(), method)
                        .beside("in SQLite", sqlite.create().p50())
                        .atMostTimes(1.5),
                ms("list of %d, records in PostgreSQL".formatted(LIVING) + with, postgres.list(), method)
                        .beside("in SQLite", sqlite.list().p50())
                        .atMostTimes(1.5),
                ms("events of a team, records in PostgreSQL" + with, postgres.events(), method)
                        .beside("in SQLite", sqlite.events().p50()));
    }

    private static Figure ms(String name, Times times, String method) {
        return Figure.of(name + ", p50", "ms", times.p50(), method);
    }

    /// One call here, the next there: what slows the machine down slows both.
    private List<Cost> measure(List<OwnCay> platforms) throws IOException, InterruptedException {
        var creates = List.of(new ArrayList<Double>(), new ArrayList<Double>());
        var lists = List.of(new ArrayList<Double>(), new ArrayList<Double>());
        var events = List.of(new ArrayList<Double>(), new ArrayList<Double>());
        var living = new ArrayList<RemoteSandbox>();
        try {
            for (int i = 0; i < WARM_UP + TIMES; i++) {
                for (int which = 0; which < platforms.size(); which++) {
                    var cay = platforms.get(which);
                    long began = System.nanoTime();
                    var sandbox = RemoteSandbox.create(cay.url(), cay.key());
                    note(creates.get(which), began, i);
                    if (i < LIVING) {
                        living.add(sandbox);
                    } else {
                        sandbox.close();
                    }
                }
            }
            for (int i = 0; i < WARM_UP + TIMES; i++) {
                for (int which = 0; which < platforms.size(); which++) {
                    get(platforms.get(which), "/v2/sandboxes", lists.get(which), i);
                    get(platforms.get(which), "/events/sandboxes?limit=100", events.get(which), i);
                }
            }
        } finally {
            for (var sandbox : living) {
                sandbox.close();
            }
        }
        return List.of(
                new Cost(times(creates.get(0)), times(lists.get(0)), times(events.get(0))),
                new Cost(times(creates.get(1)), times(lists.get(1)), times(events.get(1))));
    }

    private void get(OwnCay cay, String path, List<Double> times, int turn) throws IOException, InterruptedException {
        long began = System.nanoTime();
        var answer = http.send(
                HttpRequest.newBuilder(cay.url().resolve(path))
                        .timeout(Duration.ofMinutes(1))
                        .header("X-API-Key", cay.key())
                        .build(),
                BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new IOException("GET %s was answered %d: %s".formatted(path, answer.statusCode(), answer.body()));
        }
        note(times, began, turn);
    }

    private static void note(List<Double> times, long began, int turn) {
        if (turn >= WARM_UP) {
            times.add((System.nanoTime() - began) / 1e6);
        }
    }

    private static Times times(List<Double> milliseconds) {
        return new Times(milliseconds.stream().mapToDouble(Double::doubleValue).toArray());
    }
}
