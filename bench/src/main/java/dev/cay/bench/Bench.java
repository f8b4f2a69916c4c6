package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
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
            new Watching(),
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

    /// Runs them, and measures the machine itself before and after.
    public static List<Figure> run(List<Measurement> measurements, Progress progress) {
        progress.step("measuring this machine");
        Machine.touchMemory();
        var before = measured("this machine", Machine::speed);
        progress.done("this machine");
        var figures = new ArrayList<Figure>();
        for (var measurement : measurements) {
            progress.step("measuring " + measurement.name());
            var found = measured(measurement.name(), () -> measurement.run(progress));
            found.forEach(figure ->
                    progress.detail(figure.name() + ": " + Figure.number(figure.value()) + " " + figure.unit()));
            figures.addAll(found);
            progress.done(measurement.name());
        }
        figures.addAll(before.figures(measured("this machine", Machine::speed)));
        return figures;
    }

    private static <T> T measured(String name, Callable<T> work) {
        try {
            return work.call();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        } catch (Exception e) {
            throw new CayException(ErrorKind.INTERNAL, "measuring %s failed: %s".formatted(name, e.getMessage()), e);
        }
    }

    /// A table in Markdown.
    public static String table(List<Figure> figures) {
        return "| figure | value | baseline | ratio | promise | kept | method |\n|---|---|---|---|---|---|---|\n"
                + figures.stream().map(Figure::row).collect(Collectors.joining("\n"));
    }

    /// What the figures were measured on, in one line.
    public static String machine() {
        return Machine.line();
    }
}
