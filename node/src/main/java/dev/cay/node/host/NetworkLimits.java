package dev.cay.node.host;

import dev.cay.wire.SystemPorts;
import dev.cay.wire.node.Ceiling;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Network limits of one sandbox.
///
/// @param connections to the internet, at a time
/// @param megabits    per second, each way; 0 for no limit
/// @param nodePorts   ports on which the node itself listens inside
/// @param open        non-public destinations that are allowed, as `address:port`
/// @param ceiling     the operator's rules for all sandboxes; open destinations are not subject to it
public record NetworkLimits(
        int connections, int megabits, List<Integer> nodePorts, List<String> open, Ceiling ceiling) {
    public static final NetworkLimits DEFAULT = new NetworkLimits(4096, 0, List.of(SystemPorts.ENVD, 8443), List.of());

    /// Limits without a ceiling.
    public NetworkLimits(int connections, int megabits, List<Integer> nodePorts, List<String> open) {
        this(connections, megabits, nodePorts, open, Ceiling.NONE);
    }

    public NetworkLimits {
        nodePorts = List.copyOf(nodePorts);
        open = List.copyOf(open);
    }

    /// Whether the ceiling permits a destination that the node connects to on behalf of a user.
    ///
    /// @param address of the host; null when a proxy looks it up, and then only the lack of a ceiling will do
    public boolean permits(String host, @Nullable InetAddress address, int port) {
        if (address != null && open.contains(address.getHostAddress() + ":" + port)) {
            return true;
        }
        return ceiling.permitsName(host) && (address == null ? !ceiling.limits() : ceiling.permits(address));
    }

    /// Whether some port of this address is open.
    public boolean opens(InetAddress address) {
        return open.stream().anyMatch(place -> place.startsWith(address.getHostAddress() + ":"));
    }

    /// New ones a second: ended connections are remembered for minutes without counting as open.
    public int connectionsPerSecond() {
        return connections / 16 + 1;
    }
}
