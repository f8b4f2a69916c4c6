package dev.cay.cli;

import dev.cay.bench.Bench;
import dev.cay.bench.Figure;
import dev.cay.bench.Measurement;
import dev.cay.cli.local.Root;
import dev.cay.http.Json;
import dev.cay.life.Progress;
import dev.cay.prove.PromisesPage;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        description = "Measure every promised number, beside a baseline of the same run.",
        footer = {
            "",
            "Starts a daemon of its own for each group and leaves nothing behind. Absolute figures mean little on a busy",
            "machine; ratios mean more. Exits with 0 whatever the figures are.",
            "",
            "Examples:",
            "  sudo ./cay bench",
            "  sudo ./cay bench create echo",
            "  sudo ./cay bench --json > figures.json"
        })
final class BenchCommand implements Callable<Integer> {
    /// The output of `--json`.
    private record Report(String machine, String commit, Instant at, List<Row> figures) {}

    private record Row(
            Figure figure,
            @org.jspecify.annotations.Nullable Double ratio) {}

    @Parameters(paramLabel = "NAME", arity = "0..*", description = "Only these groups; see --list.")
    private List<String> names = List.of();

    @Option(names = "--list", description = "Say which groups there are.")
    private boolean list;

    @Option(names = "--json", description = "Print JSON for machines instead of a table.")
    private boolean json;

    @Override
    public Integer call() {
        if (list) {
            Bench.all().forEach(measurement -> System.out.println(measurement.name()));
            return 0;
        }
        List<Measurement> wanted =
                names.isEmpty() ? Bench.all() : names.stream().map(Bench::named).toList();
        Root.require("bench", "to start sandboxes");
        Progress progress = new ConsoleProgress(json ? System.err : System.out, InstantSource.system());
        var figures = Interruptible.run(() -> Bench.run(wanted, progress));
        if (json) {
            var rows = figures.stream()
                    .map(figure -> new Row(figure, figure.ratio()))
                    .toList();
            System.out.println(new String(
                    Json.write(new Report(Bench.machine(), commit(), Instant.now(), rows)), StandardCharsets.UTF_8));
        } else {
            System.out.println();
            System.out.println(Bench.machine() + ", commit " + commit());
            System.out.println();
            System.out.println(Bench.table(figures));
        }
        return 0;
    }

    private static String commit() {
        String home = System.getProperty("cay.home");
        return home == null ? "–" : new PromisesPage(Path.of(home)).commit();
    }
}
