package dev.cay.prove;

import dev.cay.node.host.Programs;
import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import dev.cay.prove.BuildClient.Build;
import dev.cay.prove.BuildClient.Line;
import dev.cay.prove.BuildClient.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The platform whose builds are disturbed, with a neighbour that must not notice.
final class BuildWorld implements AutoCloseable {
    private static final Duration LIFE = Duration.ofHours(3);
    private static final Duration STEP_LIMIT = Duration.ofSeconds(60);
    private static final Duration BUILD_LIMIT = Duration.ofMinutes(5);
    private static final Duration GONE_LIMIT = Duration.ofSeconds(60);

    /// Matches reasons that only a developer of Cay understands.
    private static final Pattern UNCLEAR =
            Pattern.compile("the platform failed|Exception|\\bnull\\b|interrupted|error id", Pattern.CASE_INSENSITIVE);

    private final OwnCay cay;
    private final BuildCache cache;
    private final BuildClient client;
    private final DaemonResources household;
    private final RemoteSandbox neighbour;
    private final Set<String> before;
    private int made;

    BuildWorld(OwnCay cay, BuildCache cache) throws IOException, InterruptedException {
        this.cay = cay;
        this.cache = cache;
        this.client = new BuildClient(cay);
        this.household = new DaemonResources(cay);
        this.neighbour = RemoteSandbox.create(cay.url(), cay.key(), LIFE);
        // The first sandbox of all makes things that stay for the others.
        this.before = household.things();
    }

    OwnCay cay() {
        return cay;
    }

    BuildCache cache() {
        return cache;
    }

    BuildClient client() {
        return client;
    }

    Blueprint blueprint(Blueprint.Kind kind) {
        return new Blueprint(kind, salt());
    }

    /// A word that no build had before.
    String salt() {
        return "%s%d".formatted(Long.toString(System.nanoTime(), 36), made++);
    }

    /// What must come true soon.
    interface Condition {
        boolean holds() throws IOException, InterruptedException;
    }

    static void await(String what, Duration limit, Condition condition) throws IOException, InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (!condition.holds()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("%s: not within %d s".formatted(what, limit.toSeconds()));
            }
            Thread.sleep(10);
        }
    }

    /// Returns when a build is at a step, or over.
    Status awaitStep(Build build, String step) throws IOException, InterruptedException {
        var found = new Status[1];
        await("step " + step, STEP_LIMIT, () -> {
            found[0] = client.status(build);
            return found[0].isOver()
                    || found[0].lines().stream().anyMatch(line -> line.step().equals(step));
        });
        return found[0];
    }

    Status awaitEnd(Build build) throws IOException, InterruptedException {
        var found = new Status[1];
        await("the end of the build", BUILD_LIMIT, () -> {
            found[0] = client.status(build);
            return found[0].isOver();
        });
        return found[0];
    }

    static void pause(int mostMillis) throws InterruptedException {
        Thread.sleep(ThreadLocalRandom.current().nextInt(mostMillis));
    }

    /// The sandboxes of builds that are there now.
    List<String> rooms() throws IOException {
        Path containers = cay.directory().resolve("run/runc");
        if (!Files.isDirectory(containers)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(containers)) {
            return all.filter(each -> Files.exists(each.resolve("state.json")))
                    .map(each -> each.getFileName().toString())
                    .filter(id -> !id.equals(neighbour.id()))
                    .toList();
        }
    }

    long firstProcess(String sandbox) throws IOException {
        return household.firstProcess(sandbox);
    }

    void crash() throws IOException, InterruptedException {
        cay.crash();
        cay.startAgain();
    }

    /// What is wrong with how a build ended; empty for nothing. A step that it failed at must be named.
    static String wrong(Status end, List<Line> seen) {
        int known = Math.min(seen.size(), end.lines().size());
        if (known < seen.size() || !end.lines().subList(0, known).equals(seen)) {
            return "its log has changed: %s was %s".formatted(end.lines(), seen);
        }
        if (end.isReady()) {
            return "";
        }
        if (end.reason().isBlank() || UNCLEAR.matcher(end.reason()).find()) {
            return "it failed without a clear reason: '%s'".formatted(end.reason());
        }
        return end.step().isEmpty() ? "it failed at no step: " + end.reason() : "";
    }

    /// Builds again if need be, and looks at the result and at what is left.
    ///
    /// @return what is wrong; empty for nothing
    String retry(BuildOrder order, Build struck, Status end) throws IOException, InterruptedException {
        if (!end.isReady()) {
            var again = awaitEnd(client.begin(order));
            if (!again.isReady()) {
                return "the retry failed at step %s: %s".formatted(again.step(), again.reason());
            }
        }
        String wrong = order.wrong(cay);
        client.delete(struck.template());
        return wrong.isEmpty() ? leftovers() : wrong;
    }

    /// Waits until deleted disks are gone from the pool. By itself btrfs begins with that after half a minute.
    void settlePool() {
        String pool = cay.directory().resolve("state/pool").toString();
        Programs.ofHost().run(GONE_LIMIT, "sync", "-f", pool);
        Programs.ofHost().run(GONE_LIMIT, "btrfs", "subvolume", "sync", pool);
    }

    /// What builds left on the host, and whether the neighbour is well; empty for nothing.
    String leftovers() throws IOException, InterruptedException {
        var left = new ArrayList<String>();
        String said = neighbour.run(List.of("/bin/sh", "-c", "echo well > /tmp/well && cat /tmp/well"));
        if (!said.strip().equals("well")) {
            left.add("the neighbour says " + said);
        }
        left.addAll(cache.leftovers());
        Path uploads = cay.directory().resolve("state/uploads");
        if (Files.isDirectory(uploads)) {
            try (Stream<Path> all = Files.walk(uploads)) {
                all.filter(each -> each.toString().endsWith(".part"))
                        .forEach(each -> left.add("half an upload: " + each));
            }
        }
        long end = System.nanoTime() + GONE_LIMIT.toNanos();
        var things = things();
        while (!things.isEmpty() && System.nanoTime() < end) {
            Thread.sleep(200);
            things = things();
        }
        left.addAll(things);
        return left.isEmpty() ? "" : "left: " + String.join(", ", left);
    }

    /// All that was not there at the begin, but for deleted disks, which btrfs forgets later.
    private Set<String> things() throws IOException {
        var things = new TreeSet<>(household.things());
        things.removeAll(before);
        things.removeIf(thing -> thing.startsWith("disk "));
        return things;
    }

    /// The same with disks, when no more builds come.
    String lastLeftovers() throws IOException, InterruptedException {
        settlePool();
        var left = household.left(before, GONE_LIMIT);
        return left.isEmpty() ? "" : "left: " + String.join(", ", left);
    }

    @Override
    public void close() throws IOException {
        client.close();
        neighbour.close();
    }
}
