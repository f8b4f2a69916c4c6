package dev.cay.node.mcp.server;

import dev.cay.node.image.FileLayers;
import dev.cay.node.image.NpmLayers;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.repository.RepositoryInstalls;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Fetches everything that servers in side sandboxes need. Thread-safe.
final class ServerPreparation implements AutoCloseable {
    /// The command of a connection, and the layers it needs.
    ///
    /// @param layers  top first
    /// @param image   the image it runs from; null for the base template
    /// @param warning a sentence for the user when the result is not what was requested; else empty
    record Prepared(
            List<String> line,
            List<String> layers,
            @Nullable ServerImage image,
            String warning) {
        Prepared(List<String> line, List<String> layers) {
            this(line, layers, null, "");
        }
    }

    private final NpmLayers packages;
    private final FileLayers files;
    private final ServerImages images;
    private final RepositoryInstalls repositories;
    private final Supplier<List<String>> base;
    private final Set<String> installing = ConcurrentHashMap.newKeySet();
    private final Set<LaunchPlan> preparing =
            Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));

    /// @param base layers of the template that servers run on, top first; the last has Node
    ServerPreparation(
            NpmLayers packages,
            FileLayers files,
            ServerImages images,
            RepositoryInstalls repositories,
            Supplier<List<String>> base) {
        this.packages = packages;
        this.files = files;
        this.images = images;
        this.repositories = repositories;
        this.base = base;
    }

    /// Takes up to minutes the first time.
    ///
    /// @param owner the sandbox whose side sandboxes run installs
    Prepared prepare(SandboxId owner, LaunchPlan plan) {
        preparing.add(plan);
        try {
            return fetch(owner, plan);
        } finally {
            preparing.remove(plan);
        }
    }

    /// Whether what this very plan needs is being fetched.
    boolean isPreparing(LaunchPlan plan) {
        return preparing.contains(plan);
    }

    /// Stops the work for this plan, unless another plan needs it.
    void cancel(LaunchPlan plan) {
        repositories.cancel(plan);
    }

    /// The progress of a pull or an install; empty without one.
    String progress(LaunchPlan plan) {
        return switch (plan.start()) {
            case LaunchPlan.Image image -> images.progress(image.reference());
            case LaunchPlan.Npm npm ->
                installing.contains(npm.what()) ? "installing the npm package %s".formatted(npm.what()) : "";
            case LaunchPlan.Repository _ -> repositories.progress(plan);
            case LaunchPlan.Command _, LaunchPlan.Remote _ -> "";
        };
    }

    private Prepared fetch(SandboxId owner, LaunchPlan plan) {
        return switch (plan.start()) {
            case LaunchPlan.Npm npm -> {
                var layers = base.get();
                String key = install(layers, npm);
                var line = new ArrayList<>(packages.command(key, npm.bin()));
                line.addAll(npm.arguments());
                yield new Prepared(line, onTop(key, layers));
            }
            case LaunchPlan.Command command ->
                new Prepared(
                        command.line(),
                        command.files() == null
                                ? base.get()
                                : onTop(
                                        files.install(command.files(), "launch.files of mcp." + plan.key()),
                                        base.get()));
            case LaunchPlan.Image image -> image(plan, image);
            case LaunchPlan.Repository repository -> {
                var ready = repositories.require(owner, plan, repository, base.get());
                yield new Prepared(repository.line(), ready.layers(), null, ready.warning());
            }
            case LaunchPlan.Remote _ -> new Prepared(List.of(), List.of());
        };
    }

    private String install(List<String> layers, LaunchPlan.Npm npm) {
        boolean first = installing.add(npm.what());
        try {
            return packages.install(layers.getLast(), npm.packageName(), npm.version());
        } finally {
            if (first) {
                installing.remove(npm.what());
            }
        }
    }

    private Prepared image(LaunchPlan plan, LaunchPlan.Image start) {
        var image = images.require(start.reference());
        var line = image.line(start.arguments());
        if (line.isEmpty()) {
            throw new CayException(
                    ErrorKind.FAILED,
                    "server %s cannot be started: its image %s names no program"
                            .formatted(plan.name(), start.reference()));
        }
        return new Prepared(line, image.layers(), image, "");
    }

    private static List<String> onTop(String key, List<String> layers) {
        return Stream.concat(Stream.of(key), layers.stream()).toList();
    }

    /// Ends running installs.
    @Override
    public void close() {
        packages.close();
        images.close();
        repositories.close();
    }
}
