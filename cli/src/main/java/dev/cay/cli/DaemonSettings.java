package dev.cay.cli;

import dev.cay.config.CayConfig;
import dev.cay.node.NodeSettings;
import dev.cay.node.host.ServerLimits;
import dev.cay.node.mcp.GatewayRules;
import dev.cay.node.mcp.MetaChoice;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Ceiling;
import java.nio.file.Path;
import java.util.stream.Collectors;

/// What the parts of a daemon get of its configuration.
final class DaemonSettings {
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
                sandboxes.fuseTemplates().stream().map(TemplateId::new).collect(Collectors.toSet()));
    }

    private NodeSettings.Network network() {
        var network = config.network();
        return new NodeSettings.Network(
                network.nameservers(),
                network.maxConnections(),
                network.bandwidthMbit(),
                network.openAddresses(),
                new Ceiling(network.egressAllow(), network.egressDeny()),
                network.trustHostCertificates() ? OPERATOR_CERTIFICATES : null,
                config.http().tlsPort());
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
}
