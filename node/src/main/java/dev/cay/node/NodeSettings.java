package dev.cay.node;

import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.ServerLimits;
import dev.cay.node.image.oci.RegistrySettings;
import dev.cay.node.mcp.GatewayRules;
import dev.cay.wire.SystemPorts;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Ceiling;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What an operator decides about the node.
///
/// @param volumeSizeMB         how much a volume may hold at most
/// @param servers              what MCP servers of one sandbox may use
/// @param fuseTemplates        whose sandboxes may mount FUSE
/// @param catalogs             of MCP servers, beside the one that comes with Cay
/// @param serverOverrides      file that says how MCP servers are started here, and what intercepts calls of
///                             their tools; null for none
/// @param remoteAddresses      where remote MCP servers may lie beside the internet
/// @param gateways             what holds for MCP gateways
/// @param registries           where images come from
/// @param ceiling              what no sandbox reaches by the network
/// @param operatorCertificates CA certificates to be trusted inside too; null for none
public record NodeSettings(
        String instance,
        Path stateDir,
        Path runDir,
        Path cacheDir,
        int poolSizeMB,
        int volumeSizeMB,
        int uidBase,
        String range,
        List<String> nameservers,
        int maxConnections,
        int bandwidthMbit,
        List<String> openAddresses,
        Ceiling ceiling,
        @Nullable Path operatorCertificates,
        int maxProcesses,
        int mostSpares,
        ServerLimits servers,
        long processLogBytes,
        Set<TemplateId> fuseTemplates,
        int edgePort,
        List<Path> catalogs,
        @Nullable Path serverOverrides,
        GatewayRules gateways,
        List<String> remoteAddresses,
        RegistrySettings registries) {
    public NodeSettings {
        nameservers = List.copyOf(nameservers);
        openAddresses = List.copyOf(openAddresses);
        fuseTemplates = Set.copyOf(fuseTemplates);
        catalogs = List.copyOf(catalogs);
        remoteAddresses = List.copyOf(remoteAddresses);
    }

    NetworkLimits networkLimits() {
        return new NetworkLimits(
                maxConnections,
                bandwidthMbit,
                List.of(SystemPorts.ENVD, SystemPorts.INTERPRETER, SystemPorts.MCP, edgePort),
                openAddresses,
                ceiling);
    }
}
