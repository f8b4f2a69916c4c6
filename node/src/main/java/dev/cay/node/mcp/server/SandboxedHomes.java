package dev.cay.node.mcp.server;

import dev.cay.node.image.FileLayers;
import dev.cay.node.image.NpmLayers;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.repository.RepositoryInstalls;
import dev.cay.node.mcp.side.SideSandboxHost;
import dev.cay.node.process.Workers;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/// Homes of servers that run here, as programs of npm packages, images, repositories or commands: each in a
/// sandbox of its own.
public final class SandboxedHomes implements ServerHomes, ServerInstaller, AutoCloseable {
    /// How long an unused side sandbox is kept.
    public static final Duration IDLE = Duration.ofSeconds(60);

    private final HomeEquipment equipment;
    private final Set<SandboxedHome> homes = ConcurrentHashMap.newKeySet();

    /// @param base  layers of the template that servers run on, top first; the last has Node
    /// @param idle  how long an unused side sandbox is kept
    /// @param nanos the time, as {@link System#nanoTime} returns it
    public SandboxedHomes(
            SideSandboxHost sides,
            PortLinks ports,
            Workers workers,
            NpmLayers packages,
            FileLayers files,
            ServerImages images,
            RepositoryInstalls repositories,
            Supplier<List<String>> base,
            Duration idle,
            LongSupplier nanos) {
        var preparation = new ServerPreparation(packages, files, images, repositories, base);
        this.equipment = new HomeEquipment(sides, ports, workers, preparation, idle, nanos);
    }

    @Override
    public ServerHome open(SandboxId owner, LaunchPlan plan) {
        if (plan.start() instanceof LaunchPlan.Remote) {
            throw new CayException(ErrorKind.INTERNAL, "server %s does not run here".formatted(plan.name()));
        }
        var home = new SandboxedHome(equipment, owner, plan, homes::remove);
        homes.add(home);
        return home;
    }

    @Override
    public void install(SandboxId owner, LaunchPlan plan) {
        equipment.preparation().prepare(owner, plan);
    }

    @Override
    public String progress(LaunchPlan plan) {
        return equipment.preparation().progress(plan);
    }

    /// Ends all servers, and running installs.
    @Override
    public void close() {
        equipment.preparation().close();
        List.copyOf(homes).forEach(SandboxedHome::close);
    }
}
