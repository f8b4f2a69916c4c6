package dev.cay.prove;

import dev.cay.prove.Blueprint.Kind;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// kill -9 of the daemon, and of the sandbox in which a step runs.
final class BuildCrashes {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int MOST_TRIES = 8;

    private BuildCrashes() {}

    static List<BuildCase> all() {
        var cases = new ArrayList<BuildCase>();
        for (var kind : Kind.values()) {
            for (String step : Blueprint.STEPS) {
                cases.add(new BuildCase(
                        "crash", title(kind, step, "at any moment"), world -> anyMoment(world, kind, step)));
                for (String point : points(kind, step)) {
                    cases.add(new BuildCase(
                            "crash", title(kind, step, point), world -> atPoint(world, kind, step, point)));
                }
                if (hasRoom(kind, step)) {
                    cases.add(new BuildCase(
                            "sandbox",
                            "kill of the sandbox of step %s, %s".formatted(step, lower(kind)),
                            world -> sandbox(world, kind, step)));
                }
            }
        }
        cases.add(new BuildCase("crash", "kill of the daemon during an upload", BuildCrashes::upload));
        return cases;
    }

    private static String title(Kind kind, String step, String point) {
        return "kill of the daemon in step %s, %s, %s".formatted(step, point, lower(kind));
    }

    private static String lower(Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    /// The COPY of a Dockerfile needs no sandbox.
    private static boolean hasRoom(Kind kind, String step) {
        return kind == Kind.STEPS || !step.equals("2");
    }

    /// Named points of a step, beside a random one. Those of a Dockerfile are the same but for the last.
    private static List<String> points(Kind kind, String step) {
        boolean last = step.equals(Blueprint.FINALIZE);
        if (kind == Kind.DOCKERFILE) {
            return last ? List.of() : List.of("layer-named");
        }
        return last ? List.of("memory-saved") : List.of("step-ran", "layer-named");
    }

    private static String anyMoment(BuildWorld world, Kind kind, String step) throws Exception {
        var blueprint = world.blueprint(kind);
        var build = world.client().begin(blueprint);
        world.awaitStep(build, step);
        BuildWorld.pause(800);
        var seen = world.client().status(build).lines();
        world.crash();
        var end = world.awaitEnd(build);
        String wrong = BuildWorld.wrong(end, seen);
        return wrong.isEmpty() ? world.retry(blueprint, build, end) : wrong;
    }

    private static String atPoint(BuildWorld world, Kind kind, String step, String point) throws Exception {
        var cay = world.cay();
        var blueprint = world.blueprint(kind);
        var build = world.client().begin(blueprint);
        try {
            // The layer of the step before is complete then.
            var seen = world.awaitStep(build, step).lines();
            Faults.CRASH.arm(cay, point);
            BuildWorld.await("the point " + point, LIMIT, () -> !cay.daemon().isAlive());
            Faults.clear(cay, point);
            cay.startAgain();
            var end = world.awaitEnd(build);
            String wrong = BuildWorld.wrong(end, seen);
            return wrong.isEmpty() ? world.retry(blueprint, build, end) : wrong;
        } finally {
            Faults.clear(cay, point);
            if (!cay.daemon().isAlive()) {
                cay.startAgain();
            }
        }
    }

    private static String sandbox(BuildWorld world, Kind kind, String step) throws Exception {
        for (int tries = 0; tries < MOST_TRIES; tries++) {
            var blueprint = world.blueprint(kind);
            var build = world.client().begin(blueprint);
            var seen = world.awaitStep(build, step).lines();
            BuildWorld.await(
                    "a sandbox",
                    LIMIT,
                    () -> !world.rooms().isEmpty()
                            || world.client().status(build).isOver());
            BuildWorld.pause(step.equals("2") ? 60 : 500);
            boolean struck = false;
            for (String room : world.rooms()) {
                long init = world.firstProcess(room);
                struck |= init > 0
                        && ProcessHandle.of(init)
                                .map(ProcessHandle::destroyForcibly)
                                .orElse(false);
            }
            var end = world.awaitEnd(build);
            String wrong = BuildWorld.wrong(end, seen);
            if (wrong.isEmpty() && !end.isReady() && !end.step().equals(step)) {
                wrong = "it failed at step %s: %s".formatted(end.step(), end.reason());
            }
            wrong = wrong.isEmpty() ? world.retry(blueprint, build, end) : wrong;
            if (!wrong.isEmpty() || (struck && !end.isReady())) {
                return wrong;
            }
        }
        return "the sandbox was gone before it could be killed, %d times".formatted(MOST_TRIES);
    }

    /// Half of an archive is sent when the daemon dies.
    private static String upload(BuildWorld world) throws Exception {
        var blueprint = world.blueprint(Kind.STEPS);
        var other = world.client().begin(world.blueprint(Kind.STEPS));
        URI link = world.client().uploadLink(other.template(), blueprint.filesHash());
        byte[] files = blueprint.files();
        try (var http = HttpClient.newHttpClient()) {
            var body = new SlowBody(files, () -> world.cay().crash());
            var sending = http.sendAsync(
                    HttpRequest.newBuilder(link)
                            .PUT(BodyPublishers.fromPublisher(BodyPublishers.ofInputStream(() -> body), files.length))
                            .build(),
                    BodyHandlers.discarding());
            BuildWorld.await(
                    "the end of the daemon", LIMIT, () -> !world.cay().daemon().isAlive());
            sending.cancel(true);
        }
        world.cay().startAgain();
        var resumed = world.awaitEnd(other);
        if (!resumed.isReady()) {
            return "the build that was under way failed: " + resumed.reason();
        }
        world.client().delete(other.template());
        var build = world.client().begin(blueprint);
        return world.retry(blueprint, build, world.awaitEnd(build));
    }
}
