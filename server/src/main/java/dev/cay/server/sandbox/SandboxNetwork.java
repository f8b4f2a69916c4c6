package dev.cay.server.sandbox;

import dev.cay.wire.node.Egress;
import org.jspecify.annotations.Nullable;

/// What may go in and out of a sandbox.
///
/// @param allowPublicTraffic  false when requests to its ports must carry its traffic token
/// @param maskRequestHost     what servers inside see as `Host`, or null for what the client sent
/// @param denyAllOut          nothing may leave, said as a rule
/// @param allowInternetAccess the same said as a switch, or null when nobody has said
public record SandboxNetwork(
        boolean allowPublicTraffic,
        @Nullable String maskRequestHost,
        boolean denyAllOut,
        @Nullable Boolean allowInternetAccess) {

    /// Whether anything may leave the sandbox.
    public boolean internet() {
        return !denyAllOut && !Boolean.FALSE.equals(allowInternetAccess);
    }

    public Egress egress() {
        return internet() ? Egress.open() : Egress.closed();
    }

    SandboxNetwork withEgress(boolean deny, @Nullable Boolean allow) {
        return new SandboxNetwork(allowPublicTraffic, maskRequestHost, deny, allow);
    }
}
