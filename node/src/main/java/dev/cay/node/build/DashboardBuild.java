package dev.cay.node.build;

import dev.cay.node.host.Programs;
import dev.cay.node.image.ChangedFiles;
import dev.cay.node.image.DashboardModules;
import dev.cay.node.image.LayerStore;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.NodeDashboard;
import dev.cay.wire.node.Resources;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Builds the files of the dashboard in the background, once for each content of its sources. Thread-safe.
///
/// npm fetches the packages on the host, where no code of theirs runs. The bundler, which is one of them, runs in a
/// sandbox; what it wrote becomes a layer.
public final class DashboardBuild implements NodeDashboard, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(DashboardBuild.class);
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final Duration AGAIN = Duration.ofMinutes(10);
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(30);
    private static final TemplateId TEMPLATE = new TemplateId("dashboard");
    private static final Resources RESOURCES = new Resources(2, 1024, 2048);
    private static final String PLACE = "/" + DashboardModules.PLACE;

    /// The files that Vite writes go where no packages are, so that the layer has nothing else.
    private static final List<String> BUILD = List.of(
            "/usr/local/bin/node", "node_modules/vite/bin/vite.js", "build", "--outDir", "/opt/dashboard-built");

    private final LayerStore layers;
    private final BuildSandboxHost sandboxes;
    private final Supplier<List<String>> base;
    private final Programs programs;
    private final Path logs;
    private volatile State state = new State.Building("it begins");
    private volatile @Nullable String layer;
    private @Nullable Thread worker;
    private boolean closed;

    /// @param base layers of the template `base`, top first, which are there once it returns
    /// @param logs directory for npm's output
    public DashboardBuild(
            LayerStore layers, BuildSandboxHost sandboxes, Supplier<List<String>> base, Programs programs, Path logs) {
        this.layers = layers;
        this.sandboxes = sandboxes;
        this.base = base;
        this.programs = programs;
        this.logs = logs;
    }

    /// Begins to build, unless the files are there.
    public synchronized void start() {
        if (worker == null && !closed) {
            worker = Thread.ofPlatform().daemon().name("dashboard-build").start(this::work);
        }
    }

    @Override
    public State state() {
        return state;
    }

    /// The key of the layer with the files, once it is there.
    public Optional<String> layer() {
        return Optional.ofNullable(layer);
    }

    /// Tries again after a while, as a registry that is not reached now may be later.
    private void work() {
        try {
            while (!attempt()) {
                Thread.sleep(AGAIN);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean attempt() throws InterruptedException {
        try {
            state = new State.Ready(build());
            return true;
        } catch (IOException | RuntimeException e) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            String reason = e instanceof CayException known ? known.userMessage() : "the log of Cay says why";
            state = new State.Failed("%s. Cay tries again every %d minutes.".formatted(reason, AGAIN.toMinutes()));
            log.atWarn().setCause(e).log("the dashboard could not be built; it is tried again later");
            return false;
        }
    }

    private Path build() throws IOException {
        try (var _ = layers.use()) {
            var modules = new DashboardModules(layers, programs);
            String key = modules.key(DashboardModules.BUILT);
            boolean fresh = !layers.claim(key);
            if (fresh) {
                state = new State.Building("fetching packages from the npm registry");
                var bottom = base.get();
                String below = modules.install(bottom.getLast(), logs);
                state = new State.Building("bundling");
                layers.build(key, rootfs -> bundle(below, bottom, rootfs));
                // Larger by far than what was made of it, and of no other use.
                layers.delete(below);
            }
            layer = key;
            log.atInfo().addKeyValue("layer", key).addKeyValue("fresh", fresh).log("dashboard ready");
            return layers.require(key).resolve("opt/dashboard-built");
        }
    }

    private void bundle(String modules, List<String> base, Path rootfs) throws IOException {
        ChangedFiles.requireSpace(rootfs);
        var all = new ArrayList<>(List.of(modules));
        all.addAll(base);
        try (var sandbox = sandboxes.open(TEMPLATE, all, RESOURCES)) {
            var command = new BuildSandbox.Command(BUILD, "root", PLACE, Map.of("NODE_ENV", "production"));
            var last = new AtomicReference<>("");
            var exit = sandbox.run(command, null, (line, isError) -> last.set(isError ? line : last.get()), LIMIT);
            if (!exit.success()) {
                throw new CayException(
                        ErrorKind.FAILED, "the bundler failed with %s: %s".formatted(exit.status(), last.get()));
            }
            ChangedFiles.copy(programs, sandbox.stop(), rootfs);
        }
    }

    /// Ends a running build.
    @Override
    public void close() {
        Thread running;
        synchronized (this) {
            closed = true;
            running = worker;
        }
        if (running != null) {
            running.interrupt();
            try {
                running.join(CLOSE_LIMIT);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
