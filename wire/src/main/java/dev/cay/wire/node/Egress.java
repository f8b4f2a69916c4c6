package dev.cay.wire.node;

import java.net.InetAddress;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The egress rules of a sandbox, which the node enforces.
///
/// A destination is judged in this order: without internet access it is refused; an address of the closed list is
/// refused unless the operator opened it; the operator's {@link Ceiling} is applied; then an allowed name, an allowed
/// address and a denied address decide, and a destination that matches none is allowed.
///
/// @param internet false blocks everything, whatever the other rules say
/// @param allow    addresses, ranges like `1.2.3.0/24`, names, `*.name` for all below a name, `*` for all names; each
///                 with or without `:port`
/// @param deny     addresses and ranges
/// @param rules    changes to requests, by host: an exact name or `*.name`, in lower case and without a port
/// @param proxy    the SOCKS5 proxy for TCP; null for none
/// @param inspect  whether the node opens TLS to all allowed hosts, to judge each request
/// @param observe  whether TCP goes through the node only to be logged
public record Egress(
        boolean internet,
        List<String> allow,
        List<String> deny,
        Map<String, Transform> rules,
        @Nullable EgressProxy proxy,
        boolean inspect,
        boolean observe) {
    private static final Egress OPEN = new Egress(true, List.of(), List.of(), Map.of(), null, false, false);
    private static final Egress CLOSED = new Egress(false, List.of(), List.of(), Map.of(), null, false, false);

    /// The changes to requests for one host.
    ///
    /// @param headers  set on each request, in place of the client's
    /// @param redirect `host` or `host:port` that is connected to instead; null for the host itself
    /// @param fill     the client's placeholders that are replaced; null for none
    public record Transform(
            Map<String, String> headers,
            @Nullable String redirect,
            @Nullable Fill fill) {
        public Transform {
            headers = Map.copyOf(headers);
        }

        public Transform(Map<String, String> headers, @Nullable String redirect) {
            this(headers, redirect, null);
        }

        /// Values may be credentials.
        @Override
        public String toString() {
            return "Transform[headers=%s, redirect=%s, fill=%s]".formatted(headers.keySet(), redirect, fill);
        }
    }

    /// A part of a request.
    public enum Place {
        HEADERS,
        QUERY,
        BODY
    }

    /// Placeholders that code in the sandbox sends, like `${e2b.secrets.NAME}`, and that the node replaces by values.
    ///
    /// @param secrets names of the secrets, in lower case; placeholders of others stay as they are
    /// @param places  parts of the request in which placeholders are replaced
    public record Fill(Set<String> secrets, Set<Place> places) {
        public Fill {
            secrets = Set.copyOf(secrets);
            places = Set.copyOf(places);
        }
    }

    /// @param host an address, a range, a name or a pattern of names
    /// @param port 0 for every port
    public record Destination(String host, int port) {
        /// The parts of an entry of {@link Egress#allow}.
        public static Destination parse(String entry) {
            int colon = entry.indexOf(':');
            if (colon < 0 || entry.indexOf(':', colon + 1) >= 0) {
                return new Destination(entry, 0);
            }
            return new Destination(entry.substring(0, colon), Integer.parseInt(entry.substring(colon + 1)));
        }

        /// Whether it is an address or a range, not a name. The last label of a name has a letter.
        public boolean isAddress() {
            return HostNames.isAddress(host);
        }

        /// Whether the port is one of these.
        public boolean hasPort(int wanted) {
            return port == 0 || port == wanted;
        }
    }

    public Egress {
        allow = List.copyOf(allow);
        deny = List.copyOf(deny);
        rules = Map.copyOf(rules);
    }

    /// No rules: everything that the operator lets sandboxes reach.
    public static Egress open() {
        return OPEN;
    }

    /// Rules that block everything.
    public static Egress closed() {
        return CLOSED;
    }

    /// Whether TCP of the sandbox goes through the node, which sees names, rather than through the kernel alone.
    public boolean takesPath() {
        return internet && (namesHosts() || !rules.isEmpty() || proxy != null || inspect || observe);
    }

    /// Whether some destinations are allowed by name.
    public boolean namesHosts() {
        return allow.stream().anyMatch(entry -> !Destination.parse(entry).isAddress());
    }

    /// Whether nothing but TCP and questions for names may leave: other protocols carry no name that could be judged,
    /// and would pass by transforms and the proxy.
    public boolean tcpOnly() {
        return internet && (namesHosts() || !rules.isEmpty() || proxy != null || inspect);
    }

    /// Whether every address is denied that is not allowed.
    public boolean deniesRest() {
        return !internet || AddressSet.of(deny).hasAllIpv4();
    }

    /// Whether a name is allowed as such, whatever its addresses are.
    public boolean allowsName(String host, int port) {
        return internet
                && allow.stream()
                        .map(Destination::parse)
                        .anyMatch(entry -> !entry.isAddress() && entry.hasPort(port) && matches(entry.host(), host));
    }

    /// Whether an address may be reached by a name that is not allowed as such, or without one.
    public boolean allowsAddress(InetAddress address, int port) {
        return internet && (namesAddress(address, port) || !denies(address));
    }

    /// Whether the node may connect to a host for the sandbox, under its rules and the ceiling.
    ///
    /// @param address of the host; null if it is not known, and then the name decides
    public boolean reaches(String host, @Nullable InetAddress address, int port, Ceiling ceiling) {
        boolean allowed =
                allowsName(host, port) || (address == null ? internet && !deniesRest() : allowsAddress(address, port));
        return allowed && ceiling.permitsName(host) && (address == null ? !ceiling.limits() : ceiling.permits(address));
    }

    private boolean namesAddress(InetAddress address, int port) {
        return allow.stream()
                .map(Destination::parse)
                .anyMatch(entry -> entry.isAddress()
                        && entry.hasPort(port)
                        && AddressSet.Range.parse(entry.host()).holds(address));
    }

    /// Whether an address is denied. Denying all of IPv4 denies IPv6, too.
    private boolean denies(InetAddress address) {
        var denied = AddressSet.of(deny);
        return denied.holds(address) || denied.hasAllIpv4();
    }

    /// The changes to requests for a host. An exact name wins over patterns, a longer pattern over a shorter one.
    public Optional<Transform> transform(String host) {
        String name = HostNames.plain(host);
        var exact = rules.get(name);
        if (exact != null) {
            return Optional.of(exact);
        }
        return rules.entrySet().stream()
                .filter(rule -> rule.getKey().startsWith("*.") && matches(rule.getKey(), name))
                .max(Comparator.comparingInt(rule -> rule.getKey().length()))
                .map(Map.Entry::getValue);
    }

    /// Whether a pattern means a host: `*` all, `*.name` all below the name but not the name itself.
    public static boolean matches(String pattern, String host) {
        return HostNames.match(pattern, host);
    }
}
