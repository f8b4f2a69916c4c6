package dev.cay.node.mcp.server;

import dev.cay.node.image.FileLayers;
import dev.cay.node.image.NpmLayers;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.process.Workers;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Homes of servers that run here, as programs of npm packages or as commands: each in a sandbox of its own.
public final class SandboxedHomes implements ServerHomes, AutoCloseable {
    /// How long a room is kept that nobody is connected to.
    public static final Duration IDLE = Duration.ofSeconds(60);

    /// What runs for one connection, and the layers it needs.
    ///
    /// @param layers top first
    record Prepared(List<String> line, List<String> layers) {}

    private final ServerRooms rooms;
    private final Workers workers;
    private final NpmLayers packages;
    private final FileLayers files;
    private final Supplier<List<String>> base;
    private final Duration idle;
    private final LongSupplier nanos;
    private final Set<SandboxedHome> homes = ConcurrentHashMap.newKeySet();
    private final Set<LaunchPlan> preparing =
            Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));

    /// @param base  layers of the template that servers run on, top first; the last has Node
    /// @param idle  how long a room is kept that nobody is connected to
    /// @param nanos the time, as {@link System#nanoTime} tells it
    public SandboxedHomes(
            ServerRooms rooms,
            Workers workers,
            NpmLayers packages,
            FileLayers files,
            Supplier<List<String>> base,
            Duration idle,
            LongSupplier nanos) {
        this.rooms = rooms;
        this.workers = workers;
        this.packages = packages;
        this.files = files;
        this.base = base;
        this.idle = idle;
        this.nanos = nanos;
    }

    @Override
    public ServerHome open(SandboxId owner, LaunchPlan plan) {
        if (plan.start() instanceof LaunchPlan.Remote) {
            throw new CayException(ErrorKind.INTERNAL, "server %s does not run here".formatted(plan.name()));
        }
        var home = new SandboxedHome(this, owner, plan, idle, nanos);
        homes.add(home);
        return home;
    }

    /// Fetches what the server needs, and starts nothing. Takes up to minutes the first time.
    public void install(LaunchPlan plan) {
        prepare(plan);
    }

    Prepared prepare(LaunchPlan plan) {
        preparing.add(plan);
        try {
            return fetch(plan);
        } finally {
            preparing.remove(plan);
        }
    }

    /// Whether what this very plan needs is being fetched.
    boolean isPreparing(LaunchPlan plan) {
        return preparing.contains(plan);
    }

    private Prepared fetch(LaunchPlan plan) {
        var layers = base.get();
        return switch (plan.start()) {
            case LaunchPlan.Npm npm -> {
                String key = packages.install(layers.getLast(), npm.packageName(), npm.version());
                var line = new ArrayList<>(packages.command(key, npm.bin()));
                line.addAll(npm.arguments());
                yield new Prepared(line, onTop(key, layers));
            }
            case LaunchPlan.Command command ->
                new Prepared(
                        command.line(),
                        command.files() == null
                                ? layers
                                : onTop(files.install(command.files(), "launch.files of mcp." + plan.key()), layers));
            case LaunchPlan.Remote _ -> new Prepared(List.of(), List.of());
        };
    }

    private static List<String> onTop(String key, List<String> layers) {
        return Stream.concat(Stream.of(key), layers.stream()).toList();
    }

    ServerRooms rooms() {
        return rooms;
    }

    Workers workers() {
        return workers;
    }

    void forget(SandboxedHome home) {
        homes.remove(home);
    }

    /// Ends all servers, and what is being installed for them.
    @Override
    public void close() {
        packages.close();
        List.copyOf(homes).forEach(SandboxedHome::close);
    }
}
