package dev.cay.bench;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// One measured number, beside what it is to be compared with.
///
/// @param name     what was measured, like `create → first command, p50`
/// @param baseline the same work without Cay, in the same run and unit; null where there is nothing to compare with
/// @param against  what the baseline is
/// @param target   what is promised, in words; empty where nothing is
/// @param met      whether the promise is kept
/// @param method   how it was measured, in one line
public record Figure(
        String name,
        String unit,
        double value,
        @Nullable Double baseline,
        String against,
        String target,
        boolean met,
        String method) {

    public static Figure of(String name, String unit, double value, String method) {
        return new Figure(name, unit, value, null, "", "", true, method);
    }

    public Figure beside(String what, double other) {
        return new Figure(name, unit, value, other, what, target, met, method);
    }

    /// Promised never to be more than this.
    public Figure atMost(double limit) {
        return promised("≤ " + number(limit) + " " + unit, value <= limit);
    }

    /// Promised never to be more than so many times the baseline.
    public Figure atMostTimes(double times) {
        var ratio = ratio();
        return promised("≤ " + number(times) + " ×", ratio != null && ratio <= times);
    }

    /// Promised to be at least this part of the baseline.
    public Figure atLeastTimes(double part) {
        var ratio = ratio();
        return promised("≥ " + number(part) + " ×", ratio != null && ratio >= part);
    }

    private Figure promised(String what, boolean kept) {
        return new Figure(
                name,
                unit,
                value,
                baseline,
                against,
                target.isEmpty() ? what : target + ", " + what,
                met && kept,
                method);
    }

    /// How many times the baseline it is.
    public @Nullable Double ratio() {
        return baseline == null || baseline == 0 ? null : value / baseline;
    }

    String row() {
        var ratio = ratio();
        return "| %s | %s %s | %s | %s | %s | %s | %s |"
                .formatted(
                        name,
                        number(value),
                        unit,
                        baseline == null ? "–" : number(baseline) + " " + unit + " (" + against + ")",
                        ratio == null ? "–" : number(ratio) + " ×",
                        target.isEmpty() ? "–" : target,
                        target.isEmpty() ? "–" : met ? "yes" : "**no**",
                        method);
    }

    static String number(double value) {
        double size = Math.abs(value);
        return String.format(
                Locale.ROOT, size >= 100 || size == Math.rint(size) ? "%.0f" : size >= 10 ? "%.1f" : "%.2f", value);
    }
}
