package dev.cay.node.egress;

import dev.cay.wire.node.AddressSet;
import dev.cay.wire.node.Egress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The rules of one sandbox's {@link Egress}, in a form for fast lookup. Immutable: other rules are another object.
///
/// Addresses that are closed for all are refused where connections are made ({@link Upstreams}).
final class EgressRules {
    private static final int ALL_PORTS = 0;

    private final Egress egress;
    private final List<HostPattern> names = new ArrayList<>();
    /// Allowed addresses by port.
    private final Map<Integer, AddressSet> allowed = new HashMap<>();

    private final AddressSet denied;
    private final boolean deniesRest;

    EgressRules(Egress egress) {
        this.egress = egress;
        var addresses = new HashMap<Integer, List<String>>();
        for (String entry : egress.allow()) {
            var destination = Egress.Destination.parse(entry);
            if (destination.isAddress()) {
                addresses
                        .computeIfAbsent(destination.port(), _ -> new ArrayList<>())
                        .add(destination.host());
            } else {
                names.add(HostPattern.of(destination.host(), destination.port()));
            }
        }
        addresses.forEach((port, some) -> allowed.put(port, AddressSet.of(some)));
        denied = AddressSet.of(egress.deny());
        deniesRest = egress.deniesRest();
    }

    Egress egress() {
        return egress;
    }

    /// Whether names are allowed, so that names decide and DNS answers for them alone.
    boolean hasNames() {
        return !names.isEmpty();
    }

    /// Whether the first bytes of a connection matter.
    boolean looks() {
        return hasNames()
                || egress.inspect()
                || egress.observe()
                || !egress.rules().isEmpty();
    }

    /// @param host in lower case, without a dot at its end
    boolean allowsName(String host, int port) {
        return egress.internet() && names.stream().anyMatch(name -> name.matches(host, port));
    }

    /// Whether a host may be looked up, at any port.
    boolean allowsName(String host) {
        return egress.internet() && names.stream().anyMatch(name -> name.matches(host));
    }

    /// Whether DNS answers for some names alone: questions for others can carry data out.
    boolean limitsNames() {
        return hasNames() || deniesRest;
    }

    /// Whether a host may be asked for. A list of addresses that denies the rest allows no name; the hosts in `rules`
    /// are found all the same, as rules act on their names at allowed addresses.
    boolean mayAskFor(String host) {
        if (hasNames()) {
            return allowsName(host);
        }
        return !deniesRest || (egress.internet() && transform(host).isPresent());
    }

    boolean allowsAddress(InetSocketAddress place) {
        return egress.internet() && (namesAddress(place) || !denied.holds(place.getAddress()));
    }

    /// Whether an address is explicitly allowed.
    boolean namesAddress(InetSocketAddress place) {
        return allows(ALL_PORTS, place) || allows(place.getPort(), place);
    }

    private boolean allows(int port, InetSocketAddress place) {
        var some = allowed.get(port);
        return some != null && some.holds(place.getAddress());
    }

    /// Whether TLS to this host is opened.
    boolean opens(String host) {
        return egress.inspect() || transform(host).isPresent();
    }

    /// The changes to requests to this host.
    Optional<Egress.Transform> transform(String host) {
        return egress.rules().isEmpty() ? Optional.empty() : egress.transform(host);
    }

    /// The route of a connection with these first bytes.
    ///
    /// @param open whether the address may be connected to at all, whatever the rules say
    Route route(FirstBytes first, InetSocketAddress destination, BooleanSupplier open) {
        boolean byAddress = allowsAddress(destination) && open.getAsBoolean();
        return switch (first) {
            case FirstBytes.Tls(String name) -> tls(name, destination, byAddress);
            case FirstBytes.Http _ when !byAddress && hasNames() && egress.internet() -> Route.REQUESTS;
            // A server may understand what the node does not, and nobody would see the requests.
            case FirstBytes.BrokenTls _ when egress.inspect() -> Route.REFUSED;
            case FirstBytes.Http _, FirstBytes.Other _, FirstBytes.BrokenTls _, FirstBytes.Unfinished _ ->
                byAddress ? Route.ADDRESS : Route.REFUSED;
        };
    }

    private Route tls(@Nullable String name, InetSocketAddress destination, boolean byAddress) {
        if (name != null && allowsName(name, destination.getPort())) {
            return opens(name) ? Route.OPENED_NAME : Route.NAME;
        }
        if (!byAddress) {
            return Route.REFUSED;
        }
        boolean opened = name == null ? egress.inspect() : opens(name);
        return opened ? Route.OPENED_ADDRESS : Route.ADDRESS;
    }
}
