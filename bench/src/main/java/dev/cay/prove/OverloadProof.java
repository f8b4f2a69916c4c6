package dev.cay.prove;

import dev.cay.bench.OwnCay;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// One sandbox does its worst, one attack after another, while its neighbours go on with their work.
final class OverloadProof implements Proof {
    private static final Duration LIFE = Duration.ofMinutes(20);
    private static final Duration WARM_UP = Duration.ofSeconds(12);
    private static final Duration QUIET = Duration.ofSeconds(10);
    private static final Duration ATTACK = Duration.ofSeconds(8);
    private static final double MOST = 3;

    @Override
    public String name() {
        return "overload";
    }

    @Override
    public String promise() {
        return "a sandbox that takes all it can get of anything does not slow its neighbours down";
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        var cay = stage.cay(Map.of("sandboxes.diskSizeMB", "512MB", "sandboxes.timeout", "20m"));
        try (var calls = new SandboxCalls(cay);
                var neighbours = new Neighbours(calls, 3, LIFE)) {
            neighbours.start();
            stage.say("warming up");
            Thread.sleep(WARM_UP);
            neighbours.take();
            Thread.sleep(QUIET);
            var quiet = neighbours.take();
            stage.say("quiet: " + quiet + " " + HostCounters.read(cay.daemon().pid()));
            var lines = new ArrayList<String>();
            var only = System.getProperty("attacks", "");
            for (var attack : List.of(
                    "forks",
                    "memory",
                    "shared_memory",
                    "disk",
                    "fsyncs",
                    "inodes",
                    "directory",
                    "descriptors",
                    "output",
                    "spin",
                    "kills",
                    "connections",
                    "inotify",
                    "terminals",
                    "aio",
                    "arp",
                    "sockets",
                    "pipes",
                    "ipc",
                    "epolls",
                    "names",
                    "node",
                    "messages",
                    "questions",
                    "namespaces")) {
                if (!only.isEmpty() && !List.of(only.split(",")).contains(attack)) {
                    continue;
                }
                stage.say(attack(cay, calls, neighbours, attack));
                Thread.sleep(1000);
                neighbours.take();
            }
            return new Verdict(true, "", lines);
        }
    }

    private String attack(OwnCay cay, SandboxCalls calls, Neighbours neighbours, String attack)
            throws IOException, InterruptedException {
        String attacker = calls.create(LIFE);
        byte[] script = Objects.requireNonNull(OverloadProof.class.getResourceAsStream("attacks.py"))
                .readAllBytes();
        calls.upload(attacker, "/tmp/attacks.py", script);
        neighbours.take();
        String outcome;
        var during = new ArrayList<String>();
        var watch = Thread.ofPlatform().daemon().start(() -> {
            try {
                Thread.sleep(ATTACK.multipliedBy(3).dividedBy(4));
                during.add(HostCounters.read(cay.daemon().pid()).toString());
            } catch (IOException | InterruptedException e) {
                during.add(e.toString());
            }
        });
        try {
            outcome = calls.run(
                            attacker,
                            ATTACK.plusSeconds(40),
                            "/usr/bin/python3",
                            "/tmp/attacks.py",
                            attack,
                            Long.toString(ATTACK.toSeconds()))
                    .toString();
        } catch (IOException e) {
            outcome = e.toString();
        }
        var pace = neighbours.take();
        watch.join();
        long begun = System.nanoTime();
        calls.kill(attacker);
        long killed = (System.nanoTime() - begun) / 1_000_000;
        return "%-14s %s p50 %.1f p99 %.1f worst %.0f n %d fail %d %s | killed %d ms | during %s | after %s"
                .formatted(
                        attack,
                        outcome.length() > 300 ? outcome.substring(0, 300) : outcome,
                        pace.p50().toNanos() / 1e6,
                        pace.p99().toNanos() / 1e6,
                        pace.worst().toNanos() / 1e6,
                        pace.commands(),
                        pace.failures(),
                        pace.failures() > 0 ? neighbours.failure() : "",
                        killed,
                        during,
                        HostCounters.read(cay.daemon().pid()));
    }
}
