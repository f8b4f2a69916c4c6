package dev.cay.node.mcp.server;

import dev.cay.node.guest.GuestException;
import dev.cay.node.lines.LongLines;
import dev.cay.node.linux.Errno;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.catalog.ServerLaunch;
import dev.cay.node.mcp.side.SideSandbox;
import dev.cay.node.mcp.side.SideSandboxHost;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The side sandbox of a server, and what is started in it. A caller must hold the lock of the server's home, except
/// for {@link #lost} and {@link #isIdle}.
final class ServerStay {
    private final HomeEquipment equipment;
    private final LaunchPlan plan;
    private final Secrets secrets;
    private final LongLines lines;
    private final Consumer<ServerStay> whenLost;
    private volatile @Nullable SideSandbox side;
    private @Nullable ServerCommand command;
    private volatile @Nullable ServedPort served;
    private volatile @Nullable String lost;

    /// @param whenLost runs once, when the sandbox has ended; must not block
    ServerStay(
            HomeEquipment equipment, LaunchPlan plan, Secrets secrets, LongLines lines, Consumer<ServerStay> whenLost) {
        this.equipment = equipment;
        this.plan = plan;
        this.secrets = secrets;
        this.lines = lines;
        this.whenLost = whenLost;
    }

    /// Starts the sandbox. To be called once, before all else.
    void begin(SandboxId owner, ServerPreparation.Prepared prepared) {
        var wanted = new SideSandboxHost.Wanted(plan.key(), prepared.layers(), plan.network(), plan.volumes());
        var fresh = equipment.sides().open(owner, wanted, this::lost);
        try {
            command = ServerCommand.of(plan, prepared, fresh.files());
            side = fresh;
        } catch (IOException | RuntimeException e) {
            fresh.close();
            throw failed(e);
        }
    }

    private void lost(String reason) {
        lost = reason;
        whenLost.accept(this);
    }

    /// Why the sandbox has ended; null if it has not.
    @Nullable
    String lost() {
        return lost;
    }

    /// The sandbox; null if it was not started.
    @Nullable
    SideSandbox side() {
        return side;
    }

    /// Connects to the server: starts a process, or calls the port of the only one.
    ///
    /// @param keeper   hears of the process
    /// @param made     gets the process before anything can be heard of it
    /// @param leftPort runs once when a connection to a port is over
    ServerLink connect(
            ServerLink.Listener listener,
            ServerProcess.Keeper keeper,
            Consumer<ServerProcess> made,
            Runnable leftPort) {
        var side = this.side;
        var command = this.command;
        if (side == null || command == null) {
            throw new IllegalStateException("a stay that was not begun");
        }
        try {
            var port = plan.start() instanceof LaunchPlan.Image image ? image.port() : null;
            return port == null
                    ? start(side, command, listener, keeper, made)
                    : served(port, side, command).connect(listener, leftPort);
        } catch (GuestException e) {
            boolean missing = e.what().equals("exec") && e.errno() == Errno.ENOENT;
            throw new CayException(
                    ErrorKind.FAILED,
                    missing
                            ? "server %s cannot be started: its sandbox has no program %s"
                                    .formatted(plan.name(), command.line().getFirst())
                            : "server %s cannot be started: %s".formatted(plan.name(), e.getMessage()),
                    e);
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private ServerProcess start(
            SideSandbox side,
            ServerCommand command,
            ServerLink.Listener listener,
            ServerProcess.Keeper keeper,
            Consumer<ServerProcess> made)
            throws IOException {
        var around = new ServerProcess.Surroundings(side.link(), equipment.workers(), lines);
        return ServerProcess.start(plan.name(), around, command, secrets, listener, keeper, made);
    }

    private ServedPort served(ServerLaunch.Port port, SideSandbox side, ServerCommand command) {
        var now = served;
        if (now == null) {
            now = new ServedPort(
                    plan.name(),
                    port,
                    equipment.ports(),
                    side,
                    (listener, keeper) -> start(side, command, listener, keeper, _ -> {}));
            served = now;
        }
        return now;
    }

    private CayException failed(Exception e) {
        return e instanceof CayException known
                ? known
                : new CayException(
                        ErrorKind.FAILED, "server %s cannot be started: %s".formatted(plan.name(), e.getMessage()), e);
    }

    /// Whether nobody is connected to its port, if it has one.
    boolean isIdle() {
        var now = served;
        return now == null || now.isIdle();
    }

    /// Ends the sandbox with all that runs in it.
    void end() {
        var port = served;
        if (port != null) {
            port.close();
        }
        var now = side;
        if (now != null) {
            now.close();
        }
    }
}
