package dev.cay.server.network;

import dev.cay.wire.node.Egress;
import dev.cay.wire.node.EgressProxy;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// The network settings of a sandbox. Stored as JSON with its record.
///
/// @param allowPublicTraffic  false when requests to its ports must carry its traffic token
/// @param maskRequestHost     the `Host` that servers inside see, or null for the client's
/// @param denyAllOut          whether a Cay that knows no egress rules must block everything; it would allow everything
///                            otherwise
/// @param allowInternetAccess the switch for all egress; null when absent
/// @param httpsPorts          ports inside at which servers speak TLS; null for none
/// @param identities          audiences of the identity tokens that rules can name, by their names; null for none
/// @param egress              the egress rules; null where an older Cay wrote it
public record SandboxNetwork(
        boolean allowPublicTraffic,
        @Nullable String maskRequestHost,
        boolean denyAllOut,
        @Nullable Boolean allowInternetAccess,
        @Nullable List<Integer> httpsPorts,
        @Nullable Map<String, String> identities,
        @Nullable EgressWish egress) {

    static SandboxNetwork of(
            boolean allowPublicTraffic,
            @Nullable String maskRequestHost,
            @Nullable List<Integer> httpsPorts,
            @Nullable Map<String, String> identities,
            EgressChoice choice) {
        return new SandboxNetwork(
                allowPublicTraffic,
                maskRequestHost,
                !choice.wish().equals(EgressWish.NONE),
                choice.allowInternetAccess(),
                httpsPorts,
                identities,
                choice.wish());
    }

    /// The rules for what may leave.
    public EgressWish wish() {
        if (egress != null) {
            return egress;
        }
        return denyAllOut ? EgressWish.DENY_ALL : EgressWish.NONE;
    }

    /// Whether anything may leave the sandbox.
    public boolean internet() {
        return !Boolean.FALSE.equals(allowInternetAccess) && !wish().deniesAll();
    }

    /// Whether the server at this port inside speaks TLS.
    public boolean isHttps(int port) {
        return httpsPorts != null && httpsPorts.contains(port);
    }

    /// The audience of the identity token with this name.
    public Optional<String> audience(String token) {
        return Optional.ofNullable(identities).map(all -> all.get(token));
    }

    /// The rules in the node's form.
    ///
    /// @param open decrypts the proxy's password
    public Egress egress(UnaryOperator<String> open) {
        if (!internet()) {
            return Egress.closed();
        }
        var wish = wish();
        var kept = wish.proxy();
        String password = kept == null ? null : kept.sealedPassword();
        var proxy = kept == null
                ? null
                : new EgressProxy(kept.address(), kept.username(), password == null ? null : open.apply(password));
        return new Egress(true, wish.allowOut(), wish.denyOut(), wish.rules(), proxy, wish.inspect(), wish.observe());
    }

    /// The rules without the password, for checks.
    public Egress rules() {
        return egress(_ -> "");
    }

    /// A copy with other egress rules; ingress stays as it is.
    SandboxNetwork with(EgressChoice choice) {
        return of(allowPublicTraffic, maskRequestHost, httpsPorts, identities, choice);
    }
}
