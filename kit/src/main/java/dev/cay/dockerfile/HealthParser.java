package dev.cay.dockerfile;

import dev.cay.dockerfile.Instruction.Healthcheck;
import dev.cay.dockerfile.Instruction.Timing;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads HEALTHCHECK.
final class HealthParser {
    private static final int LONGEST_DURATION = 60;
    private static final Pattern PART = Pattern.compile("(\\d{1,9}(?:\\.\\d{1,9})?)(ns|us|µs|ms|s|m|h)");

    private final Operands operands;

    private HealthParser(Operands operands) {
        this.operands = operands;
    }

    static Instruction parse(Operands operands) {
        operands.allow(Set.of("interval", "timeout", "start-period", "start-interval", "retries"), Set.of());
        return new HealthParser(operands).healthcheck();
    }

    private Healthcheck healthcheck() {
        var words = operands.words();
        String kind = words.isEmpty() ? "" : words.getFirst().text().toUpperCase(Locale.ROOT);
        if (kind.equals("NONE") && words.size() == 1) {
            return new Healthcheck(operands.at(), null, Timing.DEFAULT);
        }
        if (!kind.equals("CMD") || words.size() < 2) {
            throw operands.problem(
                    operands.start(), "HEALTHCHECK has no check", "write HEALTHCHECK CMD command or HEALTHCHECK NONE");
        }
        int start = words.get(1).offset();
        var json = operands.json(start);
        if (json.isPresent() && json.get().isEmpty()) {
            throw operands.problem(start, "HEALTHCHECK has no command", "write HEALTHCHECK CMD command");
        }
        CommandLine command = json.isPresent()
                ? new CommandLine.Exec(json.get())
                : new CommandLine.Shell(operands.text().substring(start - operands.start()));
        var timing = new Timing(
                duration("interval"),
                duration("timeout"),
                duration("start-period"),
                duration("start-interval"),
                retries());
        return new Healthcheck(operands.at(), command, timing);
    }

    private @Nullable Integer retries() {
        String value = operands.value("retries");
        if (value == null) {
            return null;
        }
        if (!value.matches("\\d{1,6}")) {
            throw operands.problem(
                    operands.offsetOf("retries"), "--retries is no number: " + Excerpt.of(value), "write --retries=3");
        }
        int retries = Integer.parseInt(value);
        return retries == 0 ? null : retries;
    }

    /// A duration of Go, like `1m30s`; 0 means the default.
    private @Nullable Duration duration(String flag) {
        String value = operands.value(flag);
        if (value == null || value.equals("0")) {
            return null;
        }
        var part = PART.matcher(value);
        double seconds = 0;
        int at = 0;
        while (value.length() <= LONGEST_DURATION && part.find(at) && part.start() == at) {
            seconds += Double.parseDouble(part.group(1)) * unit(part.group(2));
            at = part.end();
        }
        var duration = Duration.ofNanos(Math.round(seconds * 1e9));
        boolean tooShort = !duration.isZero() && duration.compareTo(Duration.ofMillis(1)) < 0;
        if (at != value.length() || tooShort) {
            throw operands.problem(
                    operands.offsetOf(flag),
                    "--%s is no duration of at least 1ms: %s".formatted(flag, Excerpt.of(value)),
                    "write --%s=30s".formatted(flag));
        }
        return duration.isZero() ? null : duration;
    }

    private static double unit(String unit) {
        return switch (unit) {
            case "h" -> 3600;
            case "m" -> 60;
            case "s" -> 1;
            case "ms" -> 1e-3;
            case "ns" -> 1e-9;
            default -> 1e-6;
        };
    }
}
