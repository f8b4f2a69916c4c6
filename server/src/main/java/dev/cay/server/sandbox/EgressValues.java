package dev.cay.server.sandbox;

import dev.cay.server.identity.IdentityTokens;
import dev.cay.server.secret.Secrets;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Placeholders;
import java.util.Optional;

/// Knows what stands behind placeholders in the rules of sandboxes: secrets of the sandbox's team, and tokens that say
/// which sandbox it is.
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

    private static boolean mayGo(Secrets.Value value, String host) {
        return value.hosts().isEmpty() || value.hosts().stream().anyMatch(allowed -> Egress.matches(allowed, host));
    }
}
