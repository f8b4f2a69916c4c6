package dev.cay.node.mcp;

import dev.cay.node.mcp.oauth.Authorizations;
import dev.cay.node.mcp.seal.Seal;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/// The MCP gateways of all sandboxes of this node. Thread-safe.
///
/// The settings of a gateway are stored sealed with the notes of the sandbox's processes, so that they are saved,
/// copied and removed with them: a fork has the same servers, and so has a restarted daemon.
public final class Gateways implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Gateways.class);

    /// @param folder the directory with its settings
    private record Running(McpGateway gateway, GatewaySettings settings, byte[] sealed, Path folder) {}

    private final GatewayFactory factory;
    private final SettingsFile settingsFile;
    private final Authorizations authorizations;
    private final Map<SandboxId, Running> running = new HashMap<>();

    /// @param factory        makes gateways and their servers
    /// @param authorizations those of all gateways
    /// @param seal           seals the settings, which contain credentials
    public Gateways(GatewayFactory factory, Authorizations authorizations, Seal seal) {
        this.factory = factory;
        this.authorizations = authorizations;
        this.settingsFile = new SettingsFile(seal);
    }

    /// Starts a gateway, in place of an existing one if the caller shows its token. Refuses invalid settings with the
    /// reason; whether servers work shows when they start, in the background.
    ///
    /// @param folder of the sandbox's processes
    public McpGateway start(SandboxId id, Path folder, GatewayControl.Wanted wanted) {
        var settings = GatewaySettings.read(wanted.config(), wanted.token(), wanted.metaTools());
        var plans = factory.plans(settings);
        GatewaySettings.requireNoMistake(plans);
        var gateway = replacing(id, () -> {
            requireToken(folder, wanted.shown(), wanted.token());
            return put(id, settings, plans, settingsFile.write(folder, settings), folder);
        });
        authorizations.retain(id, settings.keys());
        plans.forEach(planned ->
                planned.plan().warnings().forEach(warning -> gateway.log().say(warning)));
        gateway.probe();
        return gateway;
    }

    /// Refuses a caller without the token of the sandbox's gateway, whether that runs or could not be restored. A
    /// gateway without a token may be replaced by every user inside, and so may a missing one.
    ///
    /// @param folder of the sandbox's processes
    /// @param shown  null for none
    /// @param given  the same, from another header: one of the two must be right
    public synchronized void requireToken(Path folder, @Nullable String shown, @Nullable String given) {
        settingsFile.requireToken(folder, shown, given);
    }

    /// The one a sandbox has, also if an earlier daemon began it, or if it came with a snapshot.
    public Optional<McpGateway> recall(SandboxId id, Path folder) {
        return replacing(id, () -> found(id, folder));
    }

    /// Replaces the gateway of a sandbox, and ends the previous one. File and memory change together, so that a
    /// replaced gateway writes nothing any more.
    private <T> T replacing(SandboxId id, Supplier<T> work) {
        Running before;
        Running after;
        T result;
        synchronized (this) {
            before = running.get(id);
            result = work.get();
            after = running.get(id);
        }
        if (before != null && (after == null || after.gateway != before.gateway)) {
            before.gateway.close();
        }
        return result;
    }

    private synchronized Optional<McpGateway> found(SandboxId id, Path folder) {
        byte[] sealed;
        try {
            sealed = settingsFile.read(folder);
        } catch (NoSuchFileException e) {
            running.remove(id);
            return Optional.empty();
        } catch (IOException e) {
            log.atWarn().setCause(e).addKeyValue("sandbox", id).log("the settings of an MCP gateway cannot be read");
            return Optional.empty();
        }
        var known = running.get(id);
        if (known != null && Arrays.equals(known.sealed, sealed)) {
            return Optional.of(known.gateway);
        }
        try {
            var settings = settingsFile.open(sealed);
            if (settings.isEmpty()) {
                log.atWarn()
                        .addKeyValue("sandbox", id)
                        .log("the settings of an MCP gateway were sealed with another key");
                return Optional.empty();
            }
            return Optional.of(put(id, settings.get(), factory.plans(settings.get()), sealed, folder));
        } catch (RuntimeException e) {
            // Written by another version, perhaps.
            log.atWarn()
                    .addKeyValue("sandbox", id)
                    .addKeyValue("reason", e.getMessage())
                    .log("the settings of an MCP gateway cannot be used; the sandbox has no gateway");
            return Optional.empty();
        }
    }

    private synchronized McpGateway put(
            SandboxId id, GatewaySettings settings, List<GatewaySettings.Planned> plans, byte[] sealed, Path folder) {
        var gateway = factory.make(id, settings, plans, (servers, gatewayLog) -> new Edits(id, servers, gatewayLog));
        running.put(id, new Running(gateway, settings, sealed, folder));
        gateway.start();
        return gateway;
    }

    /// Writes new settings of a gateway. A gateway that was replaced meanwhile writes nothing.
    private synchronized void change(SandboxId id, GatewayServers servers, UnaryOperator<GatewaySettings> change) {
        var known = running.get(id);
        if (known == null || known.gateway.servers() != servers || !settingsFile.has(known.folder, known.sealed)) {
            throw new CayException(ErrorKind.CONFLICT, "this gateway was replaced by another; connect again");
        }
        var settings = change.apply(known.settings);
        running.put(id, new Running(known.gateway, settings, settingsFile.write(known.folder, settings), known.folder));
    }

    /// Changes that clients make to the gateway of a sandbox.
    private final class Edits implements MetaTools.Editor {
        private final SandboxId id;
        private final GatewayServers servers;
        private final GatewayLog gatewayLog;

        Edits(SandboxId id, GatewayServers servers, GatewayLog gatewayLog) {
            this.id = id;
            this.servers = servers;
            this.gatewayLog = gatewayLog;
        }

        @Override
        public GatewayServer add(String key, ObjectNode options) {
            var added = factory.server(id, key, options, gatewayLog);
            synchronized (Gateways.this) {
                change(id, servers, settings -> settings.with(key, options));
                // Before another caller can replace and close the gateway without knowing this server.
                servers.add(added);
            }
            return added;
        }

        @Override
        public void remove(String key) {
            change(id, servers, settings -> settings.without(key));
            servers.find(key).ifPresent(servers::remove);
            authorizations.retain(
                    id, servers.all().stream().map(GatewayServer::key).collect(Collectors.toSet()));
        }
    }

    /// Ends all servers, because the sandbox or the daemon stops; they start again on demand.
    public void rest(SandboxId id) {
        find(id).ifPresent(McpGateway::rest);
    }

    /// Suspends the servers with their sandbox, in the background; connections to remote servers have ended when this
    /// returns.
    public void sleep(SandboxId id) {
        find(id).ifPresent(McpGateway::sleep);
    }

    /// Resumes the servers. Returns at once; callers wait for a server.
    public void wake(SandboxId id) {
        find(id).ifPresent(McpGateway::wake);
    }

    /// Applies changed egress rules: connections to remote servers end unless the sandbox may reach everything, and are
    /// judged when they are made again. Returns when they have ended.
    public void setEgress(SandboxId id, Egress egress) {
        if (!egress.equals(Egress.open())) {
            find(id).ifPresent(McpGateway::cutRemote);
        }
    }

    /// A server of a sandbox's gateway.
    Optional<GatewayServer> find(SandboxId id, String key) {
        return find(id).flatMap(gateway -> gateway.servers().find(key));
    }

    synchronized Optional<McpGateway> find(SandboxId id) {
        return Optional.ofNullable(running.get(id)).map(Running::gateway);
    }

    /// Removes everything of a sandbox that has ended.
    public void end(SandboxId id) {
        leave(id);
        authorizations.end(id);
    }

    private void leave(SandboxId id) {
        var _ = replacing(id, () -> Optional.ofNullable(running.remove(id)));
    }

    @Override
    public void close() {
        List<SandboxId> all;
        synchronized (this) {
            all = List.copyOf(running.keySet());
        }
        all.forEach(this::leave);
    }
}
