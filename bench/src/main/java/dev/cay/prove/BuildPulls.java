package dev.cay.prove;

import dev.cay.testing.OwnRegistry;
import java.util.ArrayList;
import java.util.List;

/// kill -9 of the registry, and of the daemon, while an image is fetched.
final class BuildPulls {
    private static final int MOMENTS = 2;
    private static final int MOST_TRIES = 8;
    private static final int PULL_MILLIS = 400;

    private final OwnRegistry registry;

    BuildPulls(OwnRegistry registry) {
        this.registry = registry;
    }

    /// What happens to a pull.
    private interface Strike {
        void happen(BuildWorld world) throws Exception;
    }

    List<BuildCase> all() {
        var cases = new ArrayList<BuildCase>();
        for (int i = 0; i < MOMENTS; i++) {
            boolean byDockerfile = i % 2 == 1;
            cases.add(of("kill of the registry, which comes back", byDockerfile, _ -> {
                registry.kill();
                Thread.sleep(2000);
                registry.start();
            }));
            cases.add(of("kill of the daemon during a pull", byDockerfile, BuildWorld::crash));
        }
        cases.add(of("kill of the registry, which stays away", false, _ -> registry.kill()));
        cases.add(new BuildCase("disk", "the cache is full during a pull", world -> {
            String wrong = struck(world, false, _ -> world.cache().shrink(0));
            world.cache().grow();
            return wrong;
        }));
        return cases;
    }

    private BuildCase of(String title, boolean byDockerfile, Strike strike) {
        return new BuildCase(
                "registry",
                title + (byDockerfile ? ", dockerfile" : ", image"),
                world -> struck(world, byDockerfile, strike));
    }

    private String struck(BuildWorld world, boolean byDockerfile, Strike strike) throws Exception {
        for (int tries = 0; tries < MOST_TRIES; tries++) {
            var order = new ImageOrder(registry.host(), world.salt(), byDockerfile).push();
            var build = world.client().begin(order);
            world.awaitStep(build, "base");
            BuildWorld.pause(PULL_MILLIS);
            var before = world.client().status(build);
            boolean fetched =
                    before.lines().stream().anyMatch(line -> line.message().contains("Image sha256:"));
            if (!fetched) {
                strike.happen(world);
            }
            var end = world.awaitEnd(build);
            world.cache().grow();
            restart();
            String wrong = BuildWorld.wrong(end, before.lines());
            wrong = wrong.isEmpty() ? world.retry(order, build, end) : wrong;
            if (!fetched || !wrong.isEmpty()) {
                return wrong;
            }
        }
        return "the image was fetched too fast, %d times".formatted(MOST_TRIES);
    }

    private void restart() throws Exception {
        registry.kill();
        registry.start();
    }
}
