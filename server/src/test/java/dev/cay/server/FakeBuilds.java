package dev.cay.server;

import dev.cay.testing.Await;
import dev.cay.wire.BuildId;
import dev.cay.wire.TeamId;
import dev.cay.wire.node.BuildPlan;
import dev.cay.wire.node.NodeBuilds;
import dev.cay.wire.node.TemplateImage;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/// Builds templates when a test says so.
final class FakeBuilds implements NodeBuilds {
    record Begun(BuildPlan plan, Watcher watcher) {}

    private final Map<BuildId, Begun> begun = new LinkedHashMap<>();
    final Map<String, byte[]> files = new ConcurrentHashMap<>();

    /// Called before a build begins.
    volatile Consumer<BuildId> onBegin = id -> {};

    /// Builds that had begun when they were cancelled.
    final Set<BuildId> cancelled = ConcurrentHashMap.newKeySet();

    @Override
    public void begin(BuildPlan plan, Watcher watcher) {
        onBegin.accept(plan.id());
        synchronized (this) {
            begun.put(plan.id(), new Begun(plan, watcher));
            notifyAll();
        }
    }

    /// Whether this build begins within this time.
    synchronized boolean begins(String id, Duration limit) throws InterruptedException {
        var build = new BuildId(id);
        long end = System.nanoTime() + limit.toNanos();
        while (!begun.containsKey(build) && System.nanoTime() < end) {
            wait(100);
        }
        return begun.containsKey(build);
    }

    /// The build with this id, as soon as it has begun.
    synchronized Begun await(String id) throws InterruptedException {
        if (!begins(id, Await.LIMIT)) {
            throw new AssertionError("the build %s does not begin".formatted(id));
        }
        return Objects.requireNonNull(begun.get(new BuildId(id)));
    }

    @Override
    public synchronized void cancel(BuildId id, String reason) {
        var build = begun.get(id);
        if (build != null) {
            cancelled.add(id);
            build.watcher().failed(null, reason);
        }
    }

    @Override
    public boolean hasFiles(TeamId team, String hash) {
        return files.containsKey(team.value() + hash);
    }

    @Override
    public void putFiles(TeamId team, String hash, InputStream content, long length) throws IOException {
        files.put(team.value() + hash, content.readAllBytes());
    }

    /// In place of an image, what should be in it.
    @Override
    public void export(TemplateImage image, OutputStream out) throws IOException {
        out.write(image.toString().getBytes(StandardCharsets.UTF_8));
    }
}
