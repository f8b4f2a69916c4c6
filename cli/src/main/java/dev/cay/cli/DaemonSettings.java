package dev.cay.cli;

import com.sun.management.OperatingSystemMXBean;
import dev.cay.config.CayConfig;
import dev.cay.node.NodeSettings;
import dev.cay.node.host.ServerLimits;
import dev.cay.node.mcp.GatewayRules;
import dev.cay.node.mcp.MetaChoice;
import dev.cay.node.runtime.FillSettings;
import dev.cay.server.ServerSettings;
import dev.cay.server.access.AdminToken;
import dev.cay.server.audit.AuditExports;
import dev.cay.server.audit.AuditLog;
import dev.cay.server.build.BuildService;
import dev.cay.server.log.OtlpSettings;
import dev.cay.server.people.PersonAccess;
import dev.cay.server.people.openid.IssuerSettings;
import dev.cay.server.quota.Limits;
import dev.cay.server.webhook.Webhooks;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Ceiling;
import dev.cay.wire.node.Durability;
import dev.cay.wire.node.Resources;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// What the parts of a daemon get of its configuration.
final class DaemonSettings {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration MEASURE_EVERY = Duration.ofSeconds(5);

    /// Sizes of a template whose client says none, as clients expect.
    private static final int TEMPLATE_CPUS = 2;

    private static final int TEMPLATE_MEMORY_MB = 1024;

    private static final Path OPERATOR_CERTIFICATES = Path.of("/usr/local/share/ca-certificates");

    private final CayConfig config;

    DaemonSettings(CayConfig config) {
        this.config = config;
    }

    NodeSettings node() {
        return new NodeSettings(host(), limits(), network(), Registries.of(config.images()), mcp());
    }

    private NodeSettings.Host host() {
        var storage = config.storage();
        return new NodeSettings.Host(
                config.instance(),
                config.stateDir(),
                config.runDir(),
                config.cacheDir(),
                storage.poolSizeMBWithin(config.stateDir().toFile().getUsableSpace()),
                storage.uidBase(),
                config.network().range());
    }

    private NodeSettings.Limits limits() {
        var sandboxes = config.sandboxes();
        return new NodeSettings.Limits(
                sandboxes.maxProcesses(),
                sandboxes.spares(),
                sandboxes.processLogBytes(),
                config.storage().volumeSizeMB(),
                new ServerLimits(config.mcp().memoryMB(), config.mcp().maxServers()),
                sandboxes.fuseTemplates().stream().map(TemplateId::new).collect(Collectors.toSet()),
                config.pause().frozenMemoryMBOf(machineMemoryMB() << 20),
                filling(sandboxes.lazyMemory()));
    }

    private static FillSettings filling(@Nullable Boolean lazily) {
        if (lazily == null) {
            return FillSettings.AUTO;
        }
        return lazily ? FillSettings.ON : FillSettings.OFF;
    }

    private NodeSettings.Network network() {
        var network = config.network();
        return new NodeSettings.Network(
                network.nameservers(),
                network.maxConnections(),
                network.bandwidthMbit(),
                network.openAddresses(),
                new Ceiling(network.egressAllow(), network.egressDeny(), network.egressNames()),
                network.trustHostCertificates() ? OPERATOR_CERTIFICATES : null,
                config.http().tlsPort(),
                config.http().domain());
    }

    private NodeSettings.Mcp mcp() {
        var mcp = config.mcp();
        return new NodeSettings.Mcp(
                mcp.catalogs(),
                mcp.overrides(),
                new GatewayRules(
                        mcp.repositories(),
                        mcp.tokens(),
                        MetaChoice.of("mcp.metaTools", mcp.metaTools()),
                        config.callbackUrl()),
                mcp.remoteAddresses());
    }

    /// @param poolMB size of the pool, which can grow while the daemon runs
    ServerSettings server(IntSupplier poolMB) {
        var state = config.stateDir();
        var sandboxes = config.sandboxes();
        return new ServerSettings(
                domain(),
                new ServerSettings.Files(
                        state.resolve("secret"), AdminToken.in(state).file(), state.resolve("records")),
                new ServerSettings.Teams(Limits.profile(config.teams().limits()).orElseThrow(), people()),
                new ServerSettings.Sandboxes(
                        sandboxes.timeout(),
                        sandboxes.maxTimeout(),
                        sandboxes.keepPaused(),
                        Durability.valueOf(config.pause().ack().toUpperCase(Locale.ROOT)),
                        PATIENCE,
                        config.network().openAddresses()),
                new ServerSettings.Templates(builds(poolMB), config.templates().keepUnused()),
                observation());
    }

    /// What host names of sandboxes end in, with a port unless that is 443.
    String domain() {
        var http = config.http();
        return http.tlsPort() == 443 ? http.domain() : http.domain() + ":" + http.tlsPort();
    }

    /// Sizes of a sandbox of the template `base`.
    Resources resources() {
        var defaults = config.sandboxes();
        return new Resources(defaults.cpuCount(), defaults.memoryMB(), defaults.diskSizeMB());
    }

    private PersonAccess.Settings people() {
        var signIn = config.signIn();
        var issuer = signIn.issuer() == null || signIn.clientId() == null
                ? null
                : new IssuerSettings(URI.create(signIn.issuer()), signIn.clientId(), signIn.secretFile());
        return new PersonAccess.Settings(URI.create(config.signInUrl()), issuer, signIn.domains());
    }

    private BuildService.Settings builds(IntSupplier poolMB) {
        var templates = config.templates();
        return new BuildService.Settings(
                new Resources(TEMPLATE_CPUS, TEMPLATE_MEMORY_MB, resources().diskSizeMB()),
                (int) Math.max(TEMPLATE_MEMORY_MB, machineMemoryMB()),
                poolMB,
                templates.maxBuilds(),
                (long) templates.maxUploadMB() << 20,
                templates.images(),
                config.stateDir().resolve("records").resolve("builds"));
    }

    private static long machineMemoryMB() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean machine
                ? machine.getTotalMemorySize() >> 20
                : TEMPLATE_MEMORY_MB;
    }

    private ServerSettings.Observation observation() {
        var audit = config.audit();
        var logs = config.logs();
        return new ServerSettings.Observation(
                MEASURE_EVERY,
                new AuditLog.Settings(
                        audit.keep(), audit.reads(), new AuditExports.Settings(audit.file(), audit.syslog())),
                OtlpSettings.of(logs.otlpEndpoint(), logs.otlpHeadersFile()),
                Webhooks.Settings.allowing(config.webhooks().allow()));
    }
}
