package dev.cay.cli.doctor;

import dev.cay.cli.local.Root;
import dev.cay.cli.local.RunningDaemon;
import dev.cay.config.CayConfig;
import dev.cay.platform.OwnCay;
import dev.cay.prove.escape.AttackedDaemon;
import dev.cay.prove.escape.Attempt;
import dev.cay.prove.escape.OutsideWorld;
import dev.cay.prove.escape.Probes;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/// Tries every way out of a sandbox of this very host, and says what the host itself could do better.
final class SecurityReport {
    private final CayConfig config;

    /// Progress goes where a report in JSON does not.
    private final PrintStream progress;

    private final UnaryOperator<String> command;

    /// @param command writes a command of Cay as it is to be typed for this instance
    SecurityReport(CayConfig config, UnaryOperator<String> command, PrintStream progress) {
        this.config = config;
        this.command = command;
        this.progress = progress;
    }

    /// Whether every attempt was refused.
    boolean print(PrintStream out, boolean json) {
        var attempts = attack();
        var advice = new SecurityChecks().look(config, command);
        if (json) {
            var report = Map.of(
                    "attempts", attempts.stream().map(SecurityReport::entry).toList(), "host", advice);
            out.println(new JsonMapper().writerWithDefaultPrettyPrinter().writeValueAsString(report));
        } else {
            print(out, attempts, advice);
        }
        return attempts.stream().allMatch(attempt -> attempt.outcome() == Attempt.Outcome.REFUSED);
    }

    private List<Attempt> attack() {
        try {
            var running = RunningDaemon.find(config);
            if (running.isPresent()) {
                return attack(running.get().url(), running.get().key());
            }
            if (!Root.here()) {
                throw new CayException(
                        ErrorKind.PERMISSION_DENIED,
                        "no daemon runs that you have a key for, and starting one needs root; run: sudo "
                                + command.apply("doctor --security"));
            }
            progress.println("no daemon is running: starting one of its own for the time of the test (half a minute)");
            try (var own = OwnCay.start(Map.of())) {
                var environment = own.environment(OwnCay.Mode.URL);
                return attack(
                        URI.create(String.valueOf(environment.get("E2B_SANDBOX_URL"))),
                        String.valueOf(environment.get("E2B_API_KEY")));
            }
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the attempts could not be made: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        }
    }

    private List<Attempt> attack(URI url, String key) throws IOException, InterruptedException {
        progress.println("starting two sandboxes");
        try (var world = OutsideWorld.make();
                var besieged = new AttackedDaemon(url, key, world)) {
            progress.println("root in one of them tries %d ways out"
                    .formatted(Probes.inside().size()));
            return besieged.attack();
        }
    }

    private static Map<String, String> entry(Attempt attempt) {
        return Map.of(
                "probe",
                attempt.probe().name(),
                "attempt",
                attempt.probe().attempt(),
                "outcome",
                word(attempt),
                "detail",
                attempt.detail(),
                "protection",
                attempt.probe().protection());
    }

    private static String word(Attempt attempt) {
        return attempt.outcome().name().toLowerCase(Locale.ROOT);
    }

    private static void print(PrintStream out, List<Attempt> attempts, List<Finding> advice) {
        out.println();
        out.printf(Locale.ROOT, "%-10s %-50s %s%n", "outcome", "attempt", "what protects");
        attempts.forEach(attempt -> out.printf(
                Locale.ROOT,
                "%-10s %-50s %s%n",
                attempt.outcome() == Attempt.Outcome.SUCCEEDED ? "SUCCEEDED" : word(attempt),
                attempt.probe().attempt(),
                attempt.probe().protection()));
        out.println();
        Stream.concat(
                        attempts.stream()
                                .filter(attempt -> attempt.outcome() != Attempt.Outcome.REFUSED)
                                .map(attempt ->
                                        "%s: %s".formatted(attempt.probe().name(), attempt.detail())),
                        advice.stream().map(Finding::line))
                .forEach(out::println);
        long open = attempts.stream()
                .filter(attempt -> attempt.outcome() != Attempt.Outcome.REFUSED)
                .count();
        out.println();
        out.println(
                open == 0
                        ? "All %d attempts were refused. docs/security.md says what that means and what it does not."
                                .formatted(attempts.size())
                        : "%d of %d attempts were not refused: do not run code of strangers here, and tell us."
                                .formatted(open, attempts.size()));
    }
}
