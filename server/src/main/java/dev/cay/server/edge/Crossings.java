package dev.cay.server.edge;

import dev.cay.http.Exchange;
import dev.cay.http.PageOrJson;
import dev.cay.proxy.RequestRule;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.sandbox.SandboxRecord;
import dev.cay.wire.EdgeAnswer;
import dev.cay.wire.SandboxAddress;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Placeholders;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Judges requests that code in one sandbox sends through the edge to a sandbox. Thread-safe.
///
/// Every sandbox may reach itself. One with internet access may also reach sandboxes of its own team, as it
/// could by their public addresses. One whose egress rules deny anything, or name a proxy, reaches those of them
/// whose host name is allowed: another sandbox must not be a way around the rules. One that the edge does not
/// know reaches nothing. When the rules of a sandbox change, its open requests to others that are not allowed
/// any more are cut.
public final class Crossings {
    private static final int FORBIDDEN = 403;
    private static final int BAD_GATEWAY = 502;

    private final SandboxDirectory directory;
    private final String domain;
    private final SandboxHosts hosts;
    private final EgressValues placeholders;

    /// Open requests to other sandboxes, by their sender, with the host name that each leads to.
    private final Map<SandboxId, Map<Exchange, String>> open = new ConcurrentHashMap<>();

    /// @param domain       suffix of sandboxes' host names, with or without a port
    /// @param placeholders resolves secrets that rules name
    public Crossings(SandboxDirectory directory, String domain, EgressValues placeholders) {
        this.directory = directory;
        this.placeholders = placeholders;
        this.hosts = new SandboxHosts(domain);
        this.domain = domain.indexOf(':') < 0 ? domain : domain.substring(0, domain.indexOf(':'));
        directory.onUpdate(this::cutIfBarred);
    }

    /// Where a request goes: where it says or, from inside, where the rule for that host redirects it.
    ///
    /// @return nothing if it may not go on; then it was answered. Those from outside may, unless they carry
    /// a secret
    Optional<SandboxAddress> lead(SandboxAddress address, Exchange exchange) {
        if (placeholders.isMarked(exchange)) {
            PageOrJson.send(
                    exchange,
                    EdgeAnswer.refusal(
                            FORBIDDEN,
                            address.sandbox().value(),
                            "This request carries a secret that an egress rule put in for another host, and no such request goes to a sandbox"));
            return Optional.empty();
        }
        if (!permit(address, exchange)) {
            return Optional.empty();
        }
        String redirect =
                rule(address, exchange).map(Egress.Transform::redirect).orElse(null);
        return redirect == null ? Optional.of(address) : redirected(address, redirect, exchange);
    }

    private Optional<SandboxAddress> redirected(SandboxAddress address, String redirect, Exchange exchange) {
        var target = hosts.find(redirect);
        if (target.isEmpty()) {
            refuse(
                    address,
                    exchange,
                    "the rule for %s redirects to %s, and requests to a sandbox can be redirected only to another one of this Cay"
                            .formatted(host(address), redirect));
            return target;
        }
        var sandbox = target.get().sandbox();
        if (!sandbox.equals(exchange.inside()) && !sameTeam(exchange.inside(), sandbox)) {
            PageOrJson.send(exchange, EdgeAnswer.sandboxNotFound(sandbox.value()));
            return Optional.empty();
        }
        exchange.upstreamHost(redirect);
        return target;
    }

    private boolean sameTeam(@Nullable SandboxId from, SandboxId target) {
        var team = Optional.ofNullable(from).flatMap(directory::find).map(SandboxRecord::teamId);
        var other = directory.find(target).map(SandboxRecord::teamId);
        return other.isPresent() && other.equals(team);
    }

    /// Whether the request may go on; if not, it was answered.
    private boolean permit(SandboxAddress address, Exchange exchange) {
        var target = address.sandbox();
        var from = exchange.inside();
        if (from == null) {
            return true;
        }
        var caller = directory.find(from);
        if (caller.isPresent() && from.equals(target)) {
            return true;
        }
        // Noted before the check: a change of rules cuts the requests it finds noted, so none slips through.
        String host = host(address);
        note(from, exchange, host);
        if (directory
                .find(from)
                .filter(sandbox -> reaches(sandbox, exchange, host))
                .isEmpty()) {
            boolean ruled =
                    caller.filter(sandbox -> sandbox.network().internet()).isPresent();
            PageOrJson.send(
                    exchange,
                    EdgeAnswer.refusal(
                            FORBIDDEN,
                            target.value(),
                            ruled
                                    ? "The egress rules of this sandbox do not allow " + host
                                    : "This sandbox has no internet access: from inside it only its own ports can be reached"));
            return false;
        }
        if (!sameTeam(from, target)) {
            PageOrJson.send(exchange, EdgeAnswer.sandboxNotFound(target.value()));
            return false;
        }
        return true;
    }

    /// Applies the header rules of the sending sandbox, as for requests that leave it: only over TLS.
    ///
    /// @param asked   which address the request named; its rule counts
    /// @param reached where it goes, and who gets the secrets
    /// @return whether the request may go on; if not, it was answered
    boolean transform(SandboxAddress asked, SandboxAddress reached, Exchange exchange) {
        var from = exchange.inside();
        var rule = rule(asked, exchange);
        if (from == null || rule.isEmpty()) {
            return true;
        }
        try {
            RequestRule.apply(exchange, rule.get(), placeholders, from, host(reached));
            return true;
        } catch (Placeholders.Unknown e) {
            refuse(asked, exchange, String.valueOf(e.getMessage()));
            return false;
        }
    }

    private Optional<Egress.Transform> rule(SandboxAddress address, Exchange exchange) {
        return exchange.secure()
                ? Optional.ofNullable(exchange.inside())
                        .flatMap(directory::find)
                        .flatMap(sender -> sender.network().rules().transform(host(address)))
                : Optional.empty();
    }

    private static void refuse(SandboxAddress address, Exchange exchange, String why) {
        PageOrJson.send(
                exchange, EdgeAnswer.refusal(BAD_GATEWAY, address.sandbox().value(), why));
    }

    private void note(SandboxId from, Exchange exchange, String host) {
        open.compute(from, (_, exchanges) -> {
            var all = exchanges == null ? new ConcurrentHashMap<Exchange, String>() : exchanges;
            all.put(exchange, host);
            return all;
        });
        exchange.onEnd(() -> open.computeIfPresent(from, (_, exchanges) -> {
            exchanges.remove(exchange);
            return exchanges.isEmpty() ? null : exchanges;
        }));
    }

    private static boolean reaches(SandboxRecord sandbox, Exchange exchange, String host) {
        var rules = sandbox.network().rules();
        boolean limited = !rules.deny().isEmpty() || rules.proxy() != null;
        return rules.internet() && (!limited || rules.allowsName(host, exchange.localPort()));
    }

    /// The host name of the port, whatever `Host` the request has: a client can combine any `Host` with headers that
    /// name a sandbox.
    private String host(SandboxAddress address) {
        return "%d-%s.%s".formatted(address.port(), address.sandbox().value(), domain);
    }

    private void cutIfBarred(SandboxRecord sandbox) {
        open.getOrDefault(sandbox.id(), Map.of()).forEach((exchange, host) -> {
            if (!reaches(sandbox, exchange, host)) {
                exchange.abort("the sandbox may not reach it any more");
            }
        });
    }
}
