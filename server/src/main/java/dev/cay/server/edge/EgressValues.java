package dev.cay.server.edge;

import dev.cay.http.Exchange;
import dev.cay.server.access.SandboxTokens;
import dev.cay.server.identity.IdentityTokens;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.sandbox.SandboxRecord;
import dev.cay.server.secret.Secrets;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxAddress;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Placeholders;
import java.util.Optional;

/// Resolves placeholders in the rules of sandboxes: secrets of the sandbox's team, and identity tokens. Thread-safe.
///
/// Code in a sandbox reads what arrives at its ports. So a sandbox of this Cay gets a value only if it is another one
/// of the same team and the rules name its very host: a pattern like `*.DOMAIN` also matches the ports of the sender.
/// A name that is not of this Cay can still lead to its edge, by an alias or by headers that name a sandbox. So
/// requests to all other hosts carry a mark, and the edge passes no marked request on to a sandbox.
public final class EgressValues implements Placeholders {
    private final SandboxDirectory directory;
    private final Secrets secrets;
    private final IdentityTokens identities;
    private final SandboxHosts hosts;
    private final String mark;

    /// @param domain suffix of sandboxes' host names, with or without a port
    public EgressValues(
            SandboxDirectory directory,
            Secrets secrets,
            IdentityTokens identities,
            String domain,
            SandboxTokens tokens) {
        this.directory = directory;
        this.secrets = secrets;
        this.identities = identities;
        this.hosts = new SandboxHosts(domain);
        this.mark = tokens.mark();
    }

    @Override
    public Optional<String> value(SandboxId id, Kind kind, String name, String host) {
        return directory.find(id).filter(sender -> mayGoTo(sender, host)).flatMap(sender -> switch (kind) {
            case SECRET ->
                secrets.value(sender.teamId(), name)
                        .filter(value ->
                                mayGo(value, host, sender.network().wish().boundSecretsOnly()))
                        .map(Secrets.Value::text);
            case IDENTITY_TOKEN ->
                sender.network().audience(name).map(audience -> identities.make(sender.teamId(), id, audience));
        });
    }

    @Override
    public Optional<String> mark(String host) {
        return sandboxAt(host).isPresent() ? Optional.empty() : Optional.of(mark);
    }

    /// Whether the request carries values that this Cay put in for another host than that of a sandbox.
    boolean isMarked(Exchange exchange) {
        return exchange.headers().stream()
                .anyMatch(header -> header.getKey().equalsIgnoreCase(MARK)
                        && header.getValue().contains(mark));
    }

    private boolean mayGoTo(SandboxRecord sender, String host) {
        var target = sandboxAt(host);
        if (target.isEmpty()) {
            return !hosts.isBelowDomain(host) || (!isPort(host) && names(sender, host));
        }
        return target.filter(other -> !other.id().equals(sender.id())
                        && other.teamId().equals(sender.teamId())
                        && names(sender, host))
                .isPresent();
    }

    /// The sandbox that the edge passes requests for this host on to.
    private Optional<SandboxRecord> sandboxAt(String host) {
        return port(host).map(SandboxAddress::sandbox).flatMap(directory::find);
    }

    private boolean isPort(String host) {
        return port(host).isPresent();
    }

    private Optional<SandboxAddress> port(String host) {
        try {
            return hosts.find(host);
        } catch (CayException _) {
            // The edge answers such a name itself.
            return Optional.empty();
        }
    }

    /// Whether the rules of the sandbox have this very host, as one to change requests for or to redirect them to.
    private static boolean names(SandboxRecord sender, String host) {
        var rules = sender.network().rules().rules();
        return rules.containsKey(host)
                || rules.values().stream()
                        .map(Egress.Transform::redirect)
                        .anyMatch(redirect -> redirect != null
                                && Egress.Destination.parse(redirect).host().equals(host));
    }

    /// @param bound whether the author of the rules may use only secrets that are bound to hosts. This is checked for
    ///              each request, because a secret may be created, or lose its hosts, after the rules were made.
    private static boolean mayGo(Secrets.Value value, String host, boolean bound) {
        return value.hosts().isEmpty()
                ? !bound
                : value.hosts().stream().anyMatch(allowed -> Egress.matches(allowed, host));
    }
}
