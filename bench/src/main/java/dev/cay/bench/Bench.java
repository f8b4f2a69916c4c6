package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// Runs measurements and shows what came of them.
public final class Bench {
    private static final List<Measurement> ALL = List.of(
            new Starting(),
            new Creating(),
            new ColdCreating(),
            new Echoing(),
            new Commanding(),
            new Printing(),
            new Proxying(),
            new Crowding(),
            new Filing(),
            new Pausing(),
            new Forking(),
            new Building(),
            new Pulling(),
            new Interpreting(),
            new Relaying(),
            new Recording(),
            new Sharing(),
            new Egressing());

    private Bench() {}

    public static List<Measurement> all() {
        return ALL;
    }

    public static Measurement named(String name) {
        return ALL.stream()
                .filter(measurement -> measurement.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "nothing to measure is named %s; there are: %s"
                                .formatted(
                                        name,
                                        ALL.stream().map(Measurement::name).collect(Collectors.joining(", ")))));
    }

    public static List<Figure> run(List<Measurement> measurements, Progress progress) {
        var figures = new ArrayList<Figure>();
        for (var measurement : measurements) {
            progress.step("measuring " + measurement.name());
            try {
                var found = measurement.run(progress);
                found.forEach(figure ->
                        progress.detail(figure.name() + ": " + Figure.number(figure.value()) + " " + figure.unit()));
                figures.addAll(found);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CayException(ErrorKind.CANCELED, "interrupted", e);
            } catch (Exception e) {
                throw new CayException(
                        ErrorKind.INTERNAL, "measuring %s failed: %s".formatted(measurement.name(), e.getMessage()), e);
            }
            progress.done(measurement.name());
        }
        return figures;
    }

    /// A table in Markdown.
    public static String table(List<Figure> figures) {
        return "| figure | value | baseline | ratio | promise | kept | method |\n|---|---|---|---|---|---|---|\n"
                + figures.stream().map(Figure::row).collect(Collectors.joining("\n"));
    }

    /// What the figures were measured on, in one line.
    public static String machine() {
        try {
            long kilobytes = Long.parseLong(Files.readString(Path.of("/proc/meminfo"))
                    .lines()
                    .findFirst()
                    .orElse("")
                    .replaceAll("\\D", ""));
            return String.format(
                    Locale.ROOT,
                    "%d cores, %.0f GiB, Linux %s, %s",
                    Runtime.getRuntime().availableProcessors(),
                    kilobytes / 1024.0 / 1024,
                    System.getProperty("os.version"),
                    System.getProperty("os.arch"));
        } catch (IOException e) {
            return System.getProperty("os.version");
        }
    }
}
