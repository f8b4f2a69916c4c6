package dev.cay.node.mcp.oauth;

import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.catalog.ServerOverride;
import dev.cay.node.mcp.catalog.ServerPlan;
import dev.cay.node.mcp.remote.RemoteCredentials;
import dev.cay.node.mcp.seal.Seal;
import dev.cay.web.Dialer;
import dev.cay.web.UrlOrigin;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Ceiling;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.NodeAuthorizations.Authorized;
import dev.cay.wire.node.NodeAuthorizations.Redirect;
import java.net.URI;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The authorizations of all remote MCP servers of all sandboxes of this node. Thread-safe.
public final class Authorizations implements AutoCloseable {
    private static final String HEADER = "Authorization";

    /// Addresses and files.
    ///
    /// @param url     address at which users' browsers reach the API of this Cay, without a slash at its end
    /// @param tokens  the file for tokens of a sandbox, which is deleted with the sandbox
    /// @param clients the file for registrations of this Cay at authorization servers
    public record Places(String url, Function<SandboxId, Path> tokens, Path clients) {}

    /// What may be called for sandboxes.
    ///
    /// @param egress  the rules of a sandbox: a server must not lead this Cay where the sandbox itself may not go
    /// @param ceiling what is called for none
    public record Bounds(Function<SandboxId, Egress> egress, Ceiling ceiling) {}

    private record Whose(SandboxId sandbox, String server) {}

    private final Dialer dialer;
    private final Dialer outside;
    private final Bounds bounds;
    private final OwnAddress own;
    private final AuthorizationParts parts;
    private final Map<Whose, ServerAuthorization> known = new HashMap<>();

    /// @param dialer calls what the operator named, too
    public Authorizations(Dialer dialer, Places places, Seal seal, Bounds bounds, InstantSource clock) {
        this.dialer = dialer;
        this.outside = dialer.withoutNamed();
        this.bounds = bounds;
        this.own = new OwnAddress(places.url());
        this.parts = new AuthorizationParts(
                own,
                new Registrations(own, seal, places.clients(), clock),
                new GrantStore(seal, places.tokens()),
                new Links(clock),
                clock);
    }

    /// The authorization of a server; empty if it runs here, or if it has a credential.
    ///
    /// @param settings the operator's settings; null for none
    public synchronized Optional<ServerAuthorization> of(
            SandboxId sandbox, ServerPlan plan, ServerOverride.@Nullable OAuth settings) {
        var whose = new Whose(sandbox, plan.key());
        var remote = plan.ways().stream()
                .flatMap(way -> way.start() instanceof LaunchPlan.Remote found ? Stream.of(found) : Stream.empty())
                .filter(found -> !hasCredential(found, settings))
                .findFirst();
        if (remote.isEmpty()) {
            forget(whose);
            return Optional.empty();
        }
        var subject = new ServerAuthorization.Subject(
                sandbox, plan.key(), remote.get().url(), settings);
        var there = known.get(whose);
        if (there != null && there.subject().equals(subject)) {
            return Optional.of(there);
        }
        forget(whose);
        var made = new ServerAuthorization(subject, parts, () -> allowed(subject), () -> last(subject));
        known.put(whose, made);
        return Optional.of(made);
    }

    /// Whether the entry has a header for a credential and it is filled, unless the operator configured OAuth.
    private static boolean hasCredential(LaunchPlan.Remote remote, ServerOverride.@Nullable OAuth settings) {
        return remote.headers().keySet().stream().anyMatch(HEADER::equalsIgnoreCase)
                || (settings == null && !remote.headers().isEmpty());
    }

    private OAuthWeb allowed(ServerAuthorization.Subject subject) {
        if (!bounds.egress().apply(subject.sandbox()).internet()) {
            throw new CayException(ErrorKind.PERMISSION_DENIED, "this sandbox may not reach the internet");
        }
        return web(subject, () -> bounds.egress().apply(subject.sandbox()));
    }

    /// A sandbox that is gone has no rules any more.
    private OAuthWeb last(ServerAuthorization.Subject subject) {
        return web(subject, Egress::open);
    }

    /// Only a server at an address that the operator named may lead this Cay to such addresses.
    private OAuthWeb web(ServerAuthorization.Subject subject, Supplier<Egress> egress) {
        var by = dialer.isNamed(UrlOrigin.of(subject.url())) ? dialer : outside;
        return new OAuthWeb(
                by.within((host, address, port) -> egress.get().reaches(host, address, port, bounds.ceiling())));
    }

    /// What a server is shown at an address; nothing if it has no authorization for that.
    public synchronized RemoteCredentials credentials(SandboxId sandbox, String server, URI url) {
        var there = known.get(new Whose(sandbox, server));
        return there == null || !there.subject().url().equals(url) ? RemoteCredentials.NONE : there;
    }

    /// Completes the authorization that the state belongs to.
    public Authorized complete(Redirect redirect) {
        var link = parts.links()
                .take(redirect.state())
                .orElseThrow(() -> new CayException(
                        ErrorKind.NOT_FOUND,
                        "this link is not good any more: it was used, or is older than %d minutes; begin again"
                                .formatted(Links.GOOD.toMinutes())));
        return link.target().redirected(link, redirect);
    }

    /// See {@link dev.cay.wire.node.NodeAuthorizations#clientMetadata}.
    public Optional<Map<String, Object>> clientMetadata() {
        return own.document().map(id -> {
            var metadata = new LinkedHashMap<String, Object>();
            metadata.put("client_id", id);
            metadata.putAll(own.metadata(OAuthClient.NONE));
            return metadata;
        });
    }

    /// Removes authorizations of servers that a sandbox does not have any more.
    public synchronized void retain(SandboxId sandbox, Set<String> servers) {
        List.copyOf(known.keySet()).stream()
                .filter(whose -> whose.sandbox().equals(sandbox) && !servers.contains(whose.server()))
                .forEach(this::forget);
    }

    private void forget(Whose whose) {
        var there = known.remove(whose);
        if (there != null) {
            there.retire();
        }
    }

    /// Removes all authorizations of a sandbox that has ended.
    public void end(SandboxId sandbox) {
        retain(sandbox, Set.of());
    }

    @Override
    public void close() {
        outside.close();
    }
}
