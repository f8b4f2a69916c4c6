package dev.cay.node.network;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Looks up names for connections that the node makes for sandboxes, with the name servers that sandboxes use. Caches
/// answers for a short time. Thread-safe.
public final class HostNames {
    private static final int REMEMBERED = 4096;
    private static final Duration LONGEST = Duration.ofSeconds(30);

    private record Known(List<InetAddress> addresses, long end) {}

    private final NameServers servers;
    private final Map<String, Known> known = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Known> eldest) {
            return size() > REMEMBERED;
        }
    };

    /// @param nameservers servers to ask; empty means those of the host
    /// @param self        an address that is never asked
    public HostNames(List<String> nameservers, InetAddress self) {
        this.servers = new NameServers(new Resolvers(nameservers, self));
    }

    /// The IPv4 addresses of a host.
    ///
    /// @throws java.net.UnknownHostException if there are none
    public List<InetAddress> find(String host) throws IOException {
        if (host.matches("[0-9.]+")) {
            try {
                return List.of(InetAddress.ofLiteral(host));
            } catch (IllegalArgumentException _) {
                throw new UnknownHostException(host);
            }
        }
        var before = remembered(host);
        if (before != null) {
            return before;
        }
        var found = servers.find(host);
        var life = Duration.ofSeconds(Math.min(found.seconds(), LONGEST.toSeconds()));
        synchronized (known) {
            known.put(host, new Known(found.addresses(), System.nanoTime() + life.toNanos()));
        }
        return found.addresses();
    }

    private @Nullable List<InetAddress> remembered(String host) {
        synchronized (known) {
            var entry = known.get(host);
            return entry == null || entry.end() - System.nanoTime() < 0 ? null : entry.addresses();
        }
    }
}
