package dev.cay.prove;

import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/// Causes a fault at every step of saving and restoring a sandbox, and checks that the sandbox survives: it runs, or it
/// is paused with its state, and the next try succeeds.
final class FaultsProof implements Proof {
    private static final Duration LIFE = Duration.ofHours(1);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /// A program may have done its work before it can be killed at it.
    private static final int MOST_TRIES = 10;

    private static final List<String> SAVING =
            List.of("closed", "frozen", "memory-saved", "disk-saved", "commands-saved", "saved");
    private static final List<String> BRINGING =
            List.of("slot-taken", "disk-brought", "commands-brought", "brought", "opened", "running");

    /// Steps of a restore whose memory comes back while the sandbox runs.
    private static final List<String> FILLING = List.of("fill-noted", "filled");

    /// Something a sandbox goes through.
    private enum Operation {
        PAUSE,
        /// A pause that is answered before the sandbox is saved.
        FREEZE,
        RESUME,
        /// A resume of one that is frozen and not saved yet.
        THAW,
        /// A resume of one that is just being saved.
        INTERRUPT,
        SNAPSHOT,
        FORK,
        ROLLBACK
    }

    private static List<String> steps(Operation operation) {
        var after = List.of("went-on");
        return switch (operation) {
            case PAUSE ->
                all(Stream.of(
                        List.of("pausing"), SAVING, List.of("paused", "node-paused", "synced", "original-ended")));
            case FREEZE ->
                all(Stream.of(
                        List.of("pausing", "closed", "noted-frozen", "frozen", "node-paused"),
                        List.of("memory-saved", "disk-saved", "commands-saved", "saved", "unsynced", "synced"),
                        List.of("paused", "original-ended")));
            case THAW, INTERRUPT -> List.of("resuming", "thawed", "running", "node-resumed");
            case RESUME -> all(Stream.of(List.of("resuming"), BRINGING, List.of("node-resumed")));
            case SNAPSHOT -> all(Stream.of(SAVING, after));
            case FORK -> all(Stream.of(SAVING, after, List.of("disk-brought", "commands-brought")));
            case ROLLBACK -> all(Stream.of(SAVING, List.of("paused", "original-ended"), BRINGING));
        };
    }

    private static List<String> all(Stream<List<String>> lists) {
        return lists.flatMap(List::stream).toList();
    }

    /// One thing that goes wrong.
    ///
    /// @param lazy whether memory comes back while the sandbox runs
    private record Case(Operation operation, String step, Faults fault, boolean lazy) {
        String title() {
            return "%s, %s, %s: %s"
                    .formatted(operation, lazy ? "lazy" : "eager", step, fault)
                    .toLowerCase(Locale.ROOT);
        }
    }

    @Override
    public String name() {
        return "faults";
    }

    @Override
    public String promise() {
        return "kill -9 of the daemon, of runc and of CRIU and a full disk, at every step of pause, resume, snapshot,"
                + " fork and rollback: the sandbox runs or is paused with its state, and a retry succeeds";
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        var cases = stage.chosen(cases(), found -> found.operation().name().toLowerCase(Locale.ROOT));
        var wrong = new ArrayList<String>();
        for (boolean lazy : List.of(true, false)) {
            wrong.addAll(play(
                    stage, cases.stream().filter(each -> each.lazy() == lazy).toList(), lazy));
            stage.endDaemons();
        }
        return new Verdict(
                wrong.isEmpty(),
                "%d faults at named steps, %d times something was lost or stuck".formatted(cases.size(), wrong.size()),
                wrong);
    }

    private static List<String> play(Stage stage, List<Case> cases, boolean lazy) throws Exception {
        var wrong = new ArrayList<String>();
        var cay = stage.cay(Map.of(
                "sandboxes.spares",
                "0",
                "pause.frozenMemoryMB",
                "0",
                "sandboxes.lazyMemory",
                Boolean.toString(lazy),
                "java.opts",
                FaultAgent.option()));
        try (var world = new World(cay)) {
            for (var each : cases) {
                String trouble = world.play(each);
                stage.say(each.title() + ": " + (trouble == null ? "holds" : trouble));
                if (trouble != null) {
                    wrong.add("- " + each.title() + ": " + trouble);
                    world.renew();
                }
            }
        }
        return wrong;
    }

    private static List<Case> cases() {
        var cases = new ArrayList<Case>();
        for (boolean lazy : List.of(true, false)) {
            for (var operation : Operation.values()) {
                cases.addAll(cases(operation, lazy));
            }
        }
        return cases;
    }

    private static List<Case> cases(Operation operation, boolean lazy) {
        var cases = new ArrayList<Case>();
        var steps = new ArrayList<>(steps(operation));
        if (lazy && steps.contains("disk-brought") && steps.contains("running")) {
            steps.addAll(FILLING);
        }
        for (String step : steps) {
            cases.add(new Case(operation, step, Faults.CRASH, lazy));
            cases.add(new Case(operation, step, Faults.FULL, lazy));
        }
        for (String step : List.of("frozen", "commands-brought")) {
            if (steps.contains(step)) {
                cases.add(new Case(operation, step, Faults.CRIU, lazy));
                cases.add(new Case(operation, step, Faults.RUNC, lazy));
            }
        }
        return cases;
    }

    /// The sandbox all this happens to, with something in its memory.
    private static final class World implements AutoCloseable {
        private static final String COUNT = "S=$(head -c 18 /dev/urandom | base64); i=0; while :; do i=$((i+1));"
                + " echo $S $i > /count.new; mv /count.new /count; sleep 0.05; done";

        /// Gives CRIU work for long enough to be killed at it.
        private static final String BALLAST =
                "import os, time; kept = [os.urandom(1 << 20) for _ in range(96)]; time.sleep(100_000)";

        private final OwnCay cay;
        private RemoteSandbox sandbox;
        private String secret = "";
        private String snapshot = "";

        World(OwnCay cay) throws IOException, InterruptedException {
            this.cay = cay;
            this.sandbox = RemoteSandbox.create(cay.url(), cay.key(), LIFE);
            fill();
        }

        void renew() throws IOException, InterruptedException {
            sandbox.close();
            sandbox = RemoteSandbox.create(cay.url(), cay.key(), LIFE);
            fill();
        }

        private void fill() throws IOException, InterruptedException {
            sandbox.start(List.of("/bin/bash", "-c", COUNT)).close();
            sandbox.start(List.of("/usr/bin/python3", "-c", BALLAST)).close();
            await(() ->
                    sandbox.run(List.of("/bin/sh", "-c", "cat /count || true")).contains(" "));
            secret = counted()[0];
            snapshot = JsonMapper.shared()
                    .readTree(sandbox.api("POST", "/snapshots", "{}").body())
                    .path("snapshotID")
                    .asString("");
        }

        /// @return what is wrong afterwards, or null
        @Nullable
        String play(Case wanted) throws IOException, InterruptedException {
            try {
                int tries = 0;
                do {
                    settle();
                    strike(wanted);
                } while (!wanted.fault().foundItsPrey(cay) && ++tries < MOST_TRIES);
                if (!wanted.fault().foundItsPrey(cay)) {
                    return "it was too fast to be killed, %d times".formatted(tries);
                }
                String lost = lost();
                if (lost != null) {
                    return lost;
                }
                if (isResume(wanted.operation())) {
                    require(sandbox.pause("saved"));
                }
                String failure = attempt(wanted.operation());
                return failure == null ? lost() : "the retry failed: " + failure;
            } catch (IllegalStateException e) {
                return e.getMessage();
            } finally {
                Faults.clear(cay, wanted.step());
                if (!cay.daemon().isAlive()) {
                    cay.startAgain();
                }
            }
        }

        private static boolean isResume(Operation operation) {
            return switch (operation) {
                case RESUME, THAW, INTERRUPT -> true;
                case PAUSE, FREEZE, SNAPSHOT, FORK, ROLLBACK -> false;
            };
        }

        private void strike(Case wanted) throws IOException, InterruptedException {
            if (wanted.operation() == Operation.RESUME) {
                require(sandbox.pause("saved"));
                awaitOriginalGone();
            }
            if (wanted.operation() == Operation.THAW || wanted.operation() == Operation.INTERRUPT) {
                require(sandbox.pause("frozen"));
            }
            if (wanted.operation() == Operation.INTERRUPT) {
                await(this::isBeingSaved);
            }
            wanted.fault().arm(cay, wanted.step());
            attempt(wanted.operation());
            if (wanted.fault() == Faults.CRASH) {
                await(() -> !cay.daemon().isAlive());
            } else {
                await(() -> Faults.wasTaken(cay));
                if (wanted.operation() == Operation.FREEZE) {
                    // The pause was answered; what is hunted begins to work only now.
                    await(() -> wanted.fault().foundItsPrey(cay) || isSaved());
                }
            }
            Faults.clear(cay, wanted.step());
            if (!cay.daemon().isAlive()) {
                cay.startAgain();
            }
        }

        /// @return why it did not succeed, or null
        private @Nullable String attempt(Operation operation) throws InterruptedException {
            try {
                var answer = call(operation);
                // A copy that was told of must be one.
                boolean empty = operation == Operation.FORK && !answer.body().contains("\"sandboxID\"");
                return answer.statusCode() / 100 != 2 || empty ? answer.body() : null;
            } catch (IOException e) {
                return "the daemon died with the call";
            }
        }

        private HttpResponse<String> call(Operation operation) throws IOException, InterruptedException {
            return switch (operation) {
                case PAUSE -> sandbox.pause("saved");
                case FREEZE -> sandbox.pause("frozen");
                case RESUME, THAW, INTERRUPT -> sandbox.api("POST", "/connect", "{\"timeout\":3600}");
                case SNAPSHOT -> sandbox.api("POST", "/snapshots", "{\"name\":\"again\"}");
                case FORK -> sandbox.api("POST", "/fork", "{\"timeout\":15}");
                case ROLLBACK -> sandbox.api("POST", "/rollback", "{\"snapshotID\":\"%s\"}".formatted(snapshot));
            };
        }

        /// What is not as it was; a paused one is resumed first.
        private @Nullable String lost() throws IOException, InterruptedException {
            var seen = sandbox.api("GET", "", "");
            if (seen.statusCode() != 200) {
                return "it is gone: " + seen.body();
            }
            settle();
            String[] now = counted();
            if (now.length != 2 || !now[0].equals(secret)) {
                return "its memory is another's: " + String.join(" ", now);
            }
            await(() -> Long.parseLong(counted()[1]) > Long.parseLong(now[1]));
            return null;
        }

        /// Whatever state it is in, it runs afterwards.
        private void settle() throws IOException, InterruptedException {
            require(sandbox.api("POST", "/connect", "{\"timeout\":3600}"));
        }

        private String[] counted() throws IOException, InterruptedException {
            return sandbox.run(List.of("/bin/cat", "/count")).strip().split(" ");
        }

        private boolean isSaved() throws IOException, InterruptedException {
            var seen = JsonMapper.shared().readTree(sandbox.api("GET", "", "").body());
            return seen.path("paused")
                    .path("durability")
                    .path("state")
                    .asString("")
                    .equals("saved");
        }

        private boolean isBeingSaved() throws IOException {
            var images = cay.directory().resolve("state/pool/snapshots");
            try (var snapshots = Files.newDirectoryStream(images, sandbox.id() + ".*")) {
                for (var snapshot : snapshots) {
                    if (Files.exists(snapshot.resolve("memory"))) {
                        return true;
                    }
                }
            }
            return false;
        }

        private void awaitOriginalGone() throws IOException, InterruptedException {
            var disk = cay.directory().resolve("state/pool/sandboxes").resolve(sandbox.id());
            await(() -> !Files.exists(disk));
        }

        private static void require(HttpResponse<String> answer) {
            if (answer.statusCode() / 100 != 2) {
                throw new IllegalStateException("%s was answered %d: %s"
                        .formatted(answer.request().uri().getPath(), answer.statusCode(), answer.body()));
            }
        }

        private interface Condition {
            boolean holds() throws IOException, InterruptedException;
        }

        private static void await(Condition condition) throws IOException, InterruptedException {
            long end = System.nanoTime() + LIMIT.toNanos();
            while (!condition.holds()) {
                if (System.nanoTime() > end) {
                    throw new IllegalStateException(
                            "something awaited did not come within " + LIMIT.toSeconds() + " s");
                }
                Thread.sleep(20);
            }
        }

        @Override
        public void close() throws IOException {
            sandbox.close();
        }
    }
}
