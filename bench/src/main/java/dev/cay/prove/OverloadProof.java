package dev.cay.prove;

import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import dev.cay.platform.Script;
import dev.cay.prove.Neighbours.Pace;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// One sandbox makes one attack after another, while its neighbours continue their work.
///
/// The neighbours' times are compared with the seconds just before each attack, because the machine has other work too,
/// and with their times beside a sandbox that computes on all processors it may use, which is allowed. An attack that
/// slows them more is repeated: a slowdown in one of two runs is the machine's.
final class OverloadProof implements Proof {
    private static final Duration LIFE = Duration.ofMinutes(30);
    private static final Duration WARM_UP = Duration.ofSeconds(45);
    private static final Duration QUIET = Duration.ofSeconds(5);
    private static final Duration ATTACK = Duration.ofSeconds(8);
    private static final Duration GONE = Duration.ofSeconds(10);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final List<String> SCRIPTS = List.of("attacks.py", "attacks_on_node.py", "attack_tools.py");

    /// How much longer the slowest hundredth of the neighbours' commands may take.
    private static final double MOST = 3;

    /// Below that nobody minds, and the kernel's own time slices show.
    private static final Duration NOTHING = Duration.ofMillis(30);

    @Override
    public String name() {
        return "overload";
    }

    @Override
    public String promise() {
        return "a sandbox that takes all it can get of anything harms neither its neighbours nor the node";
    }

    /// What came of one attack.
    ///
    /// @param computing the slowest hundredth of the neighbours' commands beside a sandbox that computes
    private record Row(
            Attack attack,
            String outcome,
            Duration computing,
            Pace before,
            Pace during,
            HostCounters at,
            HostCounters after,
            boolean gone) {
        double ratio() {
            long usual = Math.max(before.p99().toNanos(), NOTHING.toNanos() / 3);
            long reference = Math.max(usual, computing.toNanos());
            return (double) during.p99().toNanos() / reference;
        }

        boolean felt() {
            return during.p99().compareTo(NOTHING) > 0 && ratio() > MOST;
        }

        boolean holds() {
            return attack.endedWell(outcome) && !felt() && during.failures() == 0 && gone;
        }

        String line() {
            return "| %s | %s | %s | %s | %.1f | %d | %s | %s | %s |"
                    .formatted(
                            attack.what(),
                            outcome.replace('|', '/'),
                            figures(before),
                            figures(during),
                            ratio(),
                            during.failures(),
                            at,
                            after,
                            holds() ? "holds" : "**does not**");
        }

        private static String figures(Pace pace) {
            return "%.1f / %.1f"
                    .formatted(pace.p50().toNanos() / 1e6, pace.p99().toNanos() / 1e6);
        }
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        var attacks = stage.chosen(Attack.ALL, Attack::name);
        var cay = stage.cay(Map.of("sandboxes.diskSizeMB", "192MB", "sandboxes.timeout", "30m"));
        var environment = cay.environment(OwnCay.Mode.URL);
        cay.awaitTemplate(Attack.INTERPRETER);
        try (var neighbours = new Neighbours(() -> sandbox(environment, "base"), 3)) {
            var arena = new Arena(cay.daemon().pid(), stage.client(), environment, neighbours);
            neighbours.start();
            stage.say("neighbours and the daemon warm up");
            Thread.sleep(WARM_UP);
            var first = HostCounters.read(cay.daemon().pid());
            var computing = row(arena, Attack.COMPUTING, Duration.ZERO, stage);
            var rows = new ArrayList<>(List.of(computing));
            for (var attack : attacks) {
                if (!attack.equals(Attack.COMPUTING)) {
                    rows.add(row(arena, attack, computing.during().p99(), stage));
                }
            }
            return verdict(rows, first, HostCounters.read(cay.daemon().pid()));
        }
    }

    private static Row row(Arena arena, Attack attack, Duration computing, Stage stage)
            throws IOException, InterruptedException {
        var row = arena.play(attack, computing);
        say(stage, row, arena.neighbours());
        if (row.felt()) {
            row = arena.play(attack, computing);
            say(stage, row, arena.neighbours());
        }
        return row;
    }

    private static void say(Stage stage, Row row, Neighbours neighbours) {
        stage.say("%-32s p99 %5.1f -> %5.1f ms, %s"
                .formatted(
                        row.attack().what(),
                        row.before().p99().toNanos() / 1e6,
                        row.during().p99().toNanos() / 1e6,
                        row.holds() ? "holds" : "DOES NOT HOLD: " + row.outcome() + " " + neighbours.failure()));
    }

    private static RemoteSandbox sandbox(Map<String, String> environment, String template)
            throws IOException, InterruptedException {
        return RemoteSandbox.open(
                URI.create(String.valueOf(environment.get("E2B_API_URL"))),
                String.valueOf(environment.get("E2B_API_KEY")),
                template,
                LIFE);
    }

    /// Where one attack after the other is played.
    ///
    /// @param environment of the client that starts an attack and reads what it says
    private record Arena(long daemon, NpmClient client, Map<String, String> environment, Neighbours neighbours) {
        Row play(Attack attack, Duration computing) throws IOException, InterruptedException {
            try (var attacker = sandbox(environment, attack.template())) {
                return play(attack, attacker, computing);
            }
        }

        /// The client that starts the attack is ready before anything is measured: starting it takes a processor for a
        /// while.
        private Row play(Attack attack, RemoteSandbox attacker, Duration computing)
                throws IOException, InterruptedException {
            for (String script : SCRIPTS) {
                var content = Objects.requireNonNull(OverloadProof.class.getResourceAsStream(script));
                attacker.write("/tmp/" + script, content.readAllBytes());
            }
            try (var starter = starter(attack, attacker)) {
                starter.next(PATIENCE);
                neighbours.take();
                Thread.sleep(QUIET);
                var before = neighbours.take();
                starter.tell("go");
                var running = CompletableFuture.supplyAsync(
                        () -> outcome(starter, attacker, attack), Thread::startVirtualThread);
                Thread.sleep(ATTACK.multipliedBy(3).dividedBy(4));
                var at = HostCounters.read(daemon);
                String outcome = ended(running);
                var during = neighbours.take();
                attacker.close();
                var after = HostCounters.read(daemon);
                return new Row(attack, outcome, computing, before, during, at, after, goesAway(attacker));
            }
        }

        private Script starter(Attack attack, RemoteSandbox attacker) throws IOException {
            return Script.start(
                    client,
                    environment,
                    OverloadProof.class,
                    "attack.mjs",
                    attacker.id(),
                    "/usr/bin/python3",
                    "/tmp/attacks.py",
                    attack.name(),
                    Long.toString(ATTACK.toSeconds()));
        }

        private static String ended(CompletableFuture<String> running) throws InterruptedException {
            try {
                return running.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                return "did not end";
            } catch (ExecutionException | CompletionException e) {
                return String.valueOf(e.getCause());
            }
        }

        private static String outcome(Script starter, RemoteSandbox attacker, Attack attack) {
            try {
                var result = starter.next(ATTACK.plus(PATIENCE));
                String text = (result.path("error").asString() + " "
                                + result.path("said").asString())
                        .strip();
                if (attack.name().equals("directory")) {
                    text += " "
                            + attacker.fileCall("ListDir", Map.of("path", "/home/user/many"))
                                    .body();
                }
                return text.length() > 160 ? text.substring(0, 160) : text;
            } catch (IOException | IllegalStateException e) {
                return e.toString();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return e.toString();
            }
        }
    }

    private static boolean goesAway(RemoteSandbox sandbox) throws IOException, InterruptedException {
        long end = System.nanoTime() + GONE.toNanos();
        while (sandbox.processes() > 0) {
            if (System.nanoTime() > end) {
                return false;
            }
            Thread.sleep(50);
        }
        return true;
    }

    private static Verdict verdict(List<Row> rows, HostCounters first, HostCounters last) {
        var lines = new ArrayList<>(List.of(
                "| attack | what stopped it | before p50 / p99 ms | during p50 / p99 ms | ratio of p99 to the usual | failures | host at its height | host after | |",
                "|---|---|---|---|---|---|---|---|---|"));
        rows.forEach(row -> lines.add(row.line()));
        lines.add("Host at first: " + first);
        lines.add("Host at last: " + last);
        boolean leaks = last.get("daemonFds") > first.get("daemonFds") + 50
                || last.get("daemonThreads") > first.get("daemonThreads") + 50;
        long held = rows.stream().filter(Row::holds).count();
        double worst = rows.stream().mapToDouble(Row::ratio).max().orElse(0);
        return new Verdict(
                held == rows.size() && !leaks,
                "%d of %d attacks stopped; neighbours' p99 at most %.1f times what it is before, or beside one that computes%s"
                        .formatted(held, rows.size(), worst, leaks ? "; the daemon keeps descriptors or threads" : ""),
                lines);
    }
}
