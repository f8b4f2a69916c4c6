package dev.cay.prove;

import dev.cay.platform.OwnCay;
import dev.cay.prove.Blueprint.Kind;
import java.io.File;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.json.JsonMapper;

/// Disks that are full: the one of layers, and the pool that holds those of sandboxes.
final class BuildDisks {
    private static final Duration BACK_LIMIT = Duration.ofSeconds(60);
    private static final long SOME = 300L << 20;
    private static final long SLACK = 64L << 20;

    private BuildDisks() {}

    /// A template with one step that takes all there is of the pool.
    private record Glutton(Kind kind, String salt) implements BuildOrder {
        private static final String TAKE_ALL =
                "i=0; while fallocate -l 16M /srv/big$i; do i=$((i+1)); done; head -c 20M /dev/urandom > /srv/more";

        @Override
        public String name() {
            return "proof-" + salt;
        }

        @Override
        public String body() {
            var body = JsonMapper.shared().createObjectNode();
            if (kind == Kind.DOCKERFILE) {
                return body.put("dockerfile", "FROM e2bdev/base\nRUN %s\n".formatted(TAKE_ALL))
                        .toString();
            }
            body.put("fromTemplate", "base");
            body.putArray("steps")
                    .addObject()
                    .put("type", "RUN")
                    .putArray("args")
                    .add(TAKE_ALL)
                    .add("root");
            return body.toString();
        }

        @Override
        public String wrong(OwnCay cay) {
            return "there is no template of a step that failed";
        }
    }

    static List<BuildCase> all() {
        var cases = new ArrayList<BuildCase>();
        for (var kind : Kind.values()) {
            String how = kind.name().toLowerCase(Locale.ROOT);
            cases.add(new BuildCase("disk", "a step takes all of the pool, " + how, world -> glutton(world, kind)));
            cases.add(new BuildCase("disk", "no room for another layer, " + how, world -> noRoom(world, kind)));
            for (String step : List.of("1", "2", "3")) {
                cases.add(new BuildCase(
                        "disk",
                        "the cache is full in step %s, %s".formatted(step, how),
                        world -> cacheFull(world, kind, step)));
            }
        }
        return cases;
    }

    private static String glutton(BuildWorld world, Kind kind) throws Exception {
        File pool = world.cay().directory().resolve("state/pool").toFile();
        long free = pool.getFreeSpace();
        var build = world.client().begin(new Glutton(kind, world.salt()));
        var end = world.awaitEnd(build);
        if (end.isReady() || !end.step().equals("1") || !end.reason().matches("(?s).*(No space left|quota).*")) {
            return "it ended as %s at step '%s': %s".formatted(end.state(), end.step(), end.reason());
        }
        world.settlePool();
        BuildWorld.await("the room that the step had taken", BACK_LIMIT, () -> pool.getFreeSpace() > free - SLACK);
        world.client().delete(build.template());
        return again(world, kind);
    }

    /// A smaller one succeeds at once.
    private static String again(BuildWorld world, Kind kind) throws Exception {
        var blueprint = world.blueprint(kind);
        var build = world.client().begin(blueprint);
        var end = world.awaitEnd(build);
        return end.isReady() ? world.retry(blueprint, build, end) : "a smaller build failed: " + end.reason();
    }

    private static String noRoom(BuildWorld world, Kind kind) throws Exception {
        var blueprint = world.blueprint(kind);
        try {
            world.cache().shrink(SOME);
            var build = world.client().begin(blueprint);
            var end = world.awaitEnd(build);
            world.cache().grow();
            if (end.isReady()) {
                return "it went on although there was no room";
            }
            String wrong = BuildWorld.wrong(end, List.of());
            return wrong.isEmpty() ? world.retry(blueprint, build, end) : wrong;
        } finally {
            world.cache().grow();
        }
    }

    private static String cacheFull(BuildWorld world, Kind kind, String step) throws Exception {
        var blueprint = world.blueprint(kind);
        var build = world.client().begin(blueprint);
        try {
            var seen = world.awaitStep(build, step).lines();
            world.cache().shrink(0);
            var end = world.awaitEnd(build);
            world.cache().grow();
            if (end.isReady()) {
                return "it went on although there was no room";
            }
            String wrong = BuildWorld.wrong(end, seen);
            return wrong.isEmpty() ? world.retry(blueprint, build, end) : wrong;
        } finally {
            world.cache().grow();
        }
    }
}
