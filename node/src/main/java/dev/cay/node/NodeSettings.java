package dev.cay.node;

import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.ServerLimits;
import dev.cay.node.image.oci.RegistrySettings;
import dev.cay.node.mcp.GatewayRules;
import dev.cay.node.runtime.FillSettings;
import dev.cay.wire.SystemPorts;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Ceiling;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What an operator decides about the node.
///
/// @param registries where images come from
public record NodeSettings(Host host, Limits limits, Network network, RegistrySettings registries, Mcp mcp) {
    /// Where the node works, and what it takes of its machine.
    ///
    /// @param uidBase first host uid of the first sandbox
    /// @param range   IPv4 range of the sandboxes' addresses
    public record Host(
            String instance, Path stateDir, Path runDir, Path cacheDir, int poolSizeMB, int uidBase, String range) {
        /// Directory with one folder per sandbox.
        Path records() {
            return stateDir.resolve("sandboxes");
        }

        /// Directory with logs of programs that the node runs on the host.
        Path logs() {
            return stateDir.resolve("logs");
        }
    }

    /// What sandboxes and volumes may use.
    ///
    /// @param mostSpares      how many sandboxes of one kind may be started in advance
    /// @param processLogBytes how much output of one process is kept
    /// @param volumeSizeMB    how much a volume may hold at most
    /// @param servers         what MCP servers of one sandbox may use
    /// @param fuseTemplates   whose sandboxes may mount FUSE
    /// @param frozenMemoryMB  memory that paused sandboxes may hold together once they are saved
    /// @param filling         when memory of restored sandboxes is brought in while they run
    public record Limits(
            int maxProcesses,
            int mostSpares,
            long processLogBytes,
            int volumeSizeMB,
            ServerLimits servers,
            Set<TemplateId> fuseTemplates,
            int frozenMemoryMB,
            FillSettings filling) {
        public Limits {
            fuseTemplates = Set.copyOf(fuseTemplates);
        }
    }

    /// How sandboxes reach the world.
    ///
    /// @param openAddresses        in the operator's network that sandboxes may connect to, as `address:port`
    /// @param ceiling              what no sandbox reaches by the network
    /// @param operatorCertificates CA certificates to be trusted inside too; null for none
    /// @param edgePort             where the edge is found inside every sandbox
    /// @param domain               that host names of sandboxes end in, without a port
    public record Network(
            List<String> nameservers,
            int maxConnections,
            int bandwidthMbit,
            List<String> openAddresses,
            Ceiling ceiling,
            @Nullable Path operatorCertificates,
            int edgePort,
            String domain) {
        public Network {
            nameservers = List.copyOf(nameservers);
            openAddresses = List.copyOf(openAddresses);
        }

        NetworkLimits limits() {
            return new NetworkLimits(
                    maxConnections,
                    bandwidthMbit,
                    List.of(SystemPorts.ENVD, SystemPorts.INTERPRETER, SystemPorts.MCP, edgePort),
                    openAddresses,
                    ceiling);
        }
    }

    /// Which MCP servers there are, and what holds for them.
    ///
    /// @param catalogs        of MCP servers, beside the one that comes with Cay
    /// @param overrides       file that says how MCP servers are started here, and what intercepts calls of their
    ///                        tools; null for none
    /// @param gateways        what holds for MCP gateways
    /// @param remoteAddresses where remote MCP servers may lie beside the internet
    public record Mcp(
            List<Path> catalogs, @Nullable Path overrides, GatewayRules gateways, List<String> remoteAddresses) {
        public Mcp {
            catalogs = List.copyOf(catalogs);
            remoteAddresses = List.copyOf(remoteAddresses);
        }
    }
}
