package dev.cay.server.network;

import dev.cay.wire.node.AddressSet;
import dev.cay.wire.node.Egress;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The checked egress rules of a client.
///
/// @param allowOut what is allowed, see {@link Egress#allow}
/// @param denyOut  addresses and ranges that are denied
/// @param rules    what is done to requests, by host
/// @param proxy    by which TCP leaves; null for none
/// @param inspect  see {@link Egress#inspect}
/// @param observe  see {@link Egress#observe}
/// @param narrow   true if the author of the rules may use only secrets that are bound to hosts; null otherwise, and
///                 for rules that an older Cay wrote
public record EgressWish(
        List<String> allowOut,
        List<String> denyOut,
        Map<String, Egress.Transform> rules,
        @Nullable Proxy proxy,
        boolean inspect,
        boolean observe,
        @Nullable Boolean narrow) {
    static final String ALL = "0.0.0.0/0";
    static final EgressWish NONE = new EgressWish(List.of(), List.of(), Map.of(), null, false, false, null);
    static final EgressWish DENY_ALL = new EgressWish(List.of(), List.of(ALL), Map.of(), null, false, false, null);

    /// @param sealedPassword see {@link ProxyPasswords}; null for none
    public record Proxy(
            String address,
            @Nullable String username,
            @Nullable String sealedPassword) {}

    public EgressWish {
        allowOut = List.copyOf(allowOut);
        denyOut = List.copyOf(denyOut);
        rules = Map.copyOf(rules);
    }

    /// Whether its rules send only secrets that are bound to hosts.
    public boolean boundSecretsOnly() {
        return Boolean.TRUE.equals(narrow);
    }

    /// Whether all is denied and nothing allowed.
    boolean deniesAll() {
        return allowOut.isEmpty() && AddressSet.of(denyOut).hasAllIpv4();
    }
}
