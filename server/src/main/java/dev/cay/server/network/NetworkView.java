package dev.cay.server.network;

import dev.cay.wire.node.Egress;
import dev.cay.wire.rest.SandboxDetail;
import dev.cay.wire.rest.SandboxDetail.Network;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The network of a sandbox as clients see it: the fields they sent, without passwords.
public final class NetworkView {
    private NetworkView() {}

    /// @param open whether the reader may open the sandbox; values of headers are for those alone
    public static Network of(SandboxNetwork network, boolean open) {
        var wish = network.wish();
        return new Network(
                network.allowPublicTraffic(),
                filled(wish.allowOut()),
                filled(wish.denyOut()),
                proxy(wish.proxy()),
                network.maskRequestHost(),
                network.httpsPorts(),
                wish.rules().isEmpty() || !open ? null : rules(wish.rules()),
                wish.inspect() ? true : null,
                wish.observe() ? true : null);
    }

    /// A team's default, for the operator.
    public static Network of(EgressChoice choice) {
        return of(choice, true);
    }

    /// A default.
    ///
    /// @param open whether the reader may see values of headers
    static Network of(EgressChoice choice, boolean open) {
        return of(SandboxNetwork.of(true, null, null, null, choice), open);
    }

    private static @Nullable List<String> filled(List<String> entries) {
        return entries.isEmpty() ? null : entries;
    }

    private static Network.@Nullable Proxy proxy(EgressWish.@Nullable Proxy proxy) {
        return proxy == null ? null : new Network.Proxy(proxy.address(), proxy.username());
    }

    private static Map<String, List<Network.Rule>> rules(Map<String, Egress.Transform> rules) {
        var shown = new TreeMap<String, List<SandboxDetail.Network.Rule>>();
        rules.forEach((domain, transform) -> shown.put(
                domain,
                List.of(new Network.Rule(
                        new Network.Transform(transform.headers(), transform.redirect(), fill(transform.fill()))))));
        return shown;
    }

    private static Network.@Nullable Fill fill(Egress.@Nullable Fill fill) {
        return fill == null
                ? null
                : new Network.Fill(
                        fill.secrets().stream().sorted().toList(),
                        fill.places().stream()
                                .sorted()
                                .map(place -> Objects.requireNonNull(HeaderRules.PLACES.get(place)))
                                .toList());
    }
}
