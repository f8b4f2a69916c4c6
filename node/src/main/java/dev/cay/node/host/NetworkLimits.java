package dev.cay.node.host;

import dev.cay.wire.SystemPorts;
import java.util.List;

/// What one sandbox may take of the host's network.
///
/// @param connections to the world, at a time
/// @param megabits    a second, each way; 0 for no limit
/// @param nodePorts   where the node itself listens inside
public record NetworkLimits(int connections, int megabits, List<Integer> nodePorts) {
    public static final NetworkLimits DEFAULT = new NetworkLimits(4096, 0, List.of(SystemPorts.ENVD, 8443));

    public NetworkLimits {
        nodePorts = List.copyOf(nodePorts);
    }

    /// New ones a second: ended connections are remembered for minutes without counting as open.
    public int connectionsPerSecond() {
        return connections / 16 + 1;
    }
}
