package dev.cay.server.sandbox;

import dev.cay.server.identity.IdentityTokens;
import dev.cay.server.secret.Secrets;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Placeholders;
import java.util.Optional;

/// Resolves placeholders in the rules of sandboxes: secrets of the sandbox's team, and identity tokens.
public final class EgressValues implements Placeholders {
    private final SandboxDirectory directory;
    private final Secrets secrets;
    private final IdentityTokens identities;

    public EgressValues(SandboxDirectory directory, Secrets secrets, IdentityTokens identities) {
        this.directory = directory;
        this.secrets = secrets;
        this.identities = identities;
    }

    @Override
    public Optional<String> value(SandboxId id, Kind kind, String name, String host) {
        if (isOwn(id, host)) {
            return Optional.empty();
        }
        return directory.find(id).flatMap(sandbox -> switch (kind) {
            case SECRET ->
                secrets.value(sandbox.teamId(), name)
                        .filter(value ->
                                mayGo(value, host, sandbox.network().wish().boundSecretsOnly()))
                        .map(Secrets.Value::text);
            case IDENTITY_TOKEN ->
                sandbox.network().audience(name).map(audience -> identities.make(sandbox.teamId(), id, audience));
        });
    }

    /// Whether the host is a port of the sandbox itself: code in it would read there what it must not see.
    private static boolean isOwn(SandboxId id, String host) {
        return ("-" + host + ".").contains("-" + id.value() + ".");
    }

    /// @param bound whether whoever made the rules may use only secrets that are bound to hosts. That is judged again
    /// for
    ///              each request: the secret may be made, or lose its hosts, after the rules were.
    private static boolean mayGo(Secrets.Value value, String host, boolean bound) {
        return value.hosts().isEmpty()
                ? !bound
                : value.hosts().stream().anyMatch(allowed -> Egress.matches(allowed, host));
    }
}
