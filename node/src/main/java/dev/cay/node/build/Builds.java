package dev.cay.node.build;

import dev.cay.life.FairTurns;
import dev.cay.node.host.Programs;
import dev.cay.node.image.InterpreterLayers;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.Unused;
import dev.cay.node.image.oci.Images;
import dev.cay.web.WebFiles;
import dev.cay.wire.BuildId;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import dev.cay.wire.node.BuildPlan;
import dev.cay.wire.node.BuildResult;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.LogLine.Level;
import dev.cay.wire.node.NodeBuilds;
import dev.cay.wire.node.StartCommand;
import dev.cay.wire.node.TemplateImage;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Builds of this node. Each has a thread of its own; a few run at a time. Teams take turns, and each
/// team's own builds wait in their order.
public final class Builds implements NodeBuilds, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Builds.class);
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(30);
    private static final Duration READY_LIMIT = Duration.ofMinutes(10);

    /// Builds of one team that wait; the server lets a team have fewer.
    private static final int MOST_WAITING = 1000;

    private static final Duration WAIT_LIMIT = Duration.ofDays(1);
    private static final String FINALIZE = "finalize";
    private static final String BASE = "base";

    private final LayerBuilder layerBuilder;
    private final ImageBase images;
    private final DockerfileBuild dockerfiles;
    private final OnDemandInterpreter interpreter;
    private final InstantSource clock;
    private final FairTurns turns;
    private final Map<BuildId, RunningBuild> builds = new ConcurrentHashMap<>();
    private volatile boolean closed;

    /// A running build with its thread, and the reason of a cancellation.
    private static final class RunningBuild {
        private final Thread thread;
        private volatile @Nullable String stopped;

        private RunningBuild(Thread thread) {
            this.thread = thread;
        }
    }

    /// @param web    fetches files that Dockerfiles name by URLs
    /// @param atOnce how many builds run at a time
    public Builds(
            BuildSandboxHost sandboxes,
            LayerStore layers,
            Images images,
            WebFiles web,
            Path cacheDir,
            Path stateDir,
            int atOnce,
            InstantSource clock) {
        this.layerBuilder = new LayerBuilder(
                sandboxes, layers, new StepCache(cacheDir, layers), new Uploads(stateDir), Programs.ofHost(), web);
        this.images = new ImageBase(images, layerBuilder);
        this.dockerfiles = new DockerfileBuild(this.images, layerBuilder);
        this.interpreter =
                new OnDemandInterpreter(new InterpreterLayers(layers, layerBuilder.programs()), layerBuilder);
        this.clock = clock;
        this.turns = new FairTurns("Failed to build", atOnce, MOST_WAITING, WAIT_LIMIT);
    }

    /// Call this before the first build.
    public void start() {
        layerBuilder.uploads().removeUnfinished();
    }

    @Override
    public void begin(BuildPlan plan, Watcher watcher) {
        var thread =
                Thread.ofPlatform().daemon().name("build-" + plan.id().value()).unstarted(() -> run(plan, watcher));
        if (closed) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the node is stopping");
        }
        if (builds.putIfAbsent(plan.id(), new RunningBuild(thread)) == null) {
            thread.start();
        }
    }

    @Override
    public void cancel(BuildId id, String reason) {
        var build = builds.get(id);
        if (build != null) {
            build.stopped = reason;
            build.thread.interrupt();
        }
    }

    @Override
    public boolean hasFiles(TeamId team, String hash) {
        return layerBuilder.uploads().has(team, hash);
    }

    @Override
    public void putFiles(TeamId team, String hash, InputStream content, long length) throws IOException {
        layerBuilder.uploads().put(team, hash, content, length);
    }

    /// Unused archives and records of steps.
    ///
    /// @param before files that were used after this moment stay
    public List<Unused> unused(Instant before) {
        var unused = new ArrayList<>(layerBuilder.uploads().unused(before));
        layerBuilder.cache().unused(before).ifPresent(unused::add);
        return unused;
    }

    @Override
    public void export(TemplateImage image, OutputStream out) throws IOException {
        try (var _ = layerBuilder.layers().use()) {
            images.write(image, out);
        }
    }

    private void run(BuildPlan plan, Watcher watcher) {
        // Until the watcher has recorded the result, only this use keeps its layers.
        try (var _ = layerBuilder.layers().use()) {
            runInTurn(plan, watcher);
        }
    }

    private void runInTurn(BuildPlan plan, Watcher watcher) {
        var voice = new BuildVoice(watcher, clock);
        try {
            try (var _ = turn(plan, voice)) {
                var result = build(plan, voice);
                builds.remove(plan.id());
                watcher.ready(result);
            }
        } catch (Exception e) {
            var build = builds.remove(plan.id());
            String stopped = build == null ? null : build.stopped;
            if (closed && stopped == null) {
                // The next daemon continues the build.
                log.atInfo()
                        .addKeyValue("build", plan.id())
                        .log("a build was interrupted; the next daemon continues it");
                return;
            }
            fail(voice, watcher, stopped == null ? reason(e) : stopped, e);
        }
    }

    private FairTurns.Turn turn(BuildPlan plan, BuildVoice voice) {
        return turns.tryTake().orElseGet(() -> {
            voice.say("Waiting for other builds of this machine");
            return turns.take(plan.teamId());
        });
    }

    private static void fail(BuildVoice voice, Watcher watcher, String reason, Exception cause) {
        String step = voice.step();
        voice.say(Level.ERROR, reason);
        log.atInfo()
                .setCause(cause instanceof CayException ? null : cause)
                .addKeyValue("reason", reason)
                .log("a build failed");
        watcher.failed(step, reason);
    }

    private static String reason(Exception e) {
        return switch (e) {
            case CayException known when known.kind() != ErrorKind.INTERNAL -> known.userMessage();
            default -> "the platform failed: " + e.getMessage();
        };
    }

    private BuildResult build(BuildPlan plan, BuildVoice voice) throws IOException {
        voice.at(BASE, "[base]");
        voice.say("Building template %s".formatted(plan.templateId()));
        var base = switch (plan.base()) {
            case BuildPlan.Base.Layers layers -> begin(layers);
            case BuildPlan.Base.Image image -> images.begin(plan, image, voice);
            case BuildPlan.Base.Archive archive -> images.begin(plan, archive, voice);
            case BuildPlan.Base.Dockerfile dockerfile -> dockerfiles.begin(plan, dockerfile, voice);
        };
        var steps = new Steps(layerBuilder, plan, voice, base.layers(), base.state());
        int number = 0;
        for (var step : plan.steps()) {
            steps.run(++number, step);
        }
        voice.at(FINALIZE, "[finalize]");
        return finish(plan, base, steps, voice);
    }

    private ImageBase.Prepared begin(BuildPlan.Base.Layers base) {
        return new ImageBase.Prepared(
                layerBuilder.layers(base), new BuildState(base.user(), base.workdir(), base.environment()), null);
    }

    private BuildResult finish(BuildPlan plan, ImageBase.Prepared base, Steps steps, BuildVoice voice)
            throws IOException {
        var state = steps.state();
        var layers = interpreter.addTo(steps.layers(), plan, voice);
        boolean asked = plan.startCommand() != null || plan.readyCommand() != null;
        var start = asked || base.start() == null
                ? new StartCommand(
                        plan.startCommand(), plan.readyCommand(), state.user(), state.workdir(), state.environment())
                : base.start();
        String snapshot = null;
        if (start.command() != null || start.ready() != null) {
            snapshot = warm(plan, layers, start, voice);
        }
        voice.say("Build finished");
        return new BuildResult(layers, state.user(), state.workdir(), snapshot, start);
    }

    /// Runs the start command once and saves the running sandbox.
    ///
    /// @return the name of the snapshot; null when it cannot be saved, and each sandbox runs the command itself
    private @Nullable String warm(BuildPlan plan, List<String> layers, StartCommand start, BuildVoice voice)
            throws IOException {
        String name = name(plan, layers, start);
        if (layerBuilder.sandboxes().hasSaved(name) && !plan.force()) {
            voice.say("CACHED start command: " + start.command());
            return name;
        }
        try (var sandbox = layerBuilder.sandboxes().openWhole(plan.templateId(), layers, plan.resources())) {
            boolean wait = start.command() != null
                    && start.ready() == null
                    && ShellCommand.words(start.command()).isEmpty();
            new StartUp(sandbox, voice::say, voice, READY_LIMIT)
                    .run(wait ? start.readyAfter(StartUp.USUAL_WAIT) : start);
            return start.command() == null ? null : save(sandbox, name, voice);
        }
    }

    private static @Nullable String save(BuildSandbox sandbox, String name, BuildVoice voice) {
        try {
            sandbox.save(name, Keep.MEMORY);
            voice.say("Saved with the start command running");
            return name;
        } catch (CayException e) {
            voice.say(
                    Level.WARN,
                    "The processes of the start command cannot be saved, so each sandbox runs the command again: "
                            + e.userMessage());
            return null;
        }
    }

    /// A name made of everything that the snapshot depends on. A forced build gets a name of its own.
    private static String name(BuildPlan plan, List<String> layers, StartCommand start) {
        var inputs = new ArrayList<>(layers);
        inputs.add(plan.resources().toString());
        inputs.add(String.valueOf(start.command()));
        inputs.add(String.valueOf(start.ready()));
        inputs.add(new BuildState(start.user(), start.workdir(), start.environment()).text());
        inputs.add(plan.templateId().value());
        inputs.add(plan.force() ? plan.id().value() : "");
        return "b" + LayerStore.hash(inputs);
    }

    /// Interrupts running builds.
    @Override
    public void close() {
        closed = true;
        var running = List.copyOf(builds.values());
        running.forEach(build -> build.thread.interrupt());
        try {
            for (var build : running) {
                // One that is just being begun has no thread yet that could be waited for.
                boolean _ = !build.thread.isAlive() || build.thread.join(CLOSE_LIMIT);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
