package dev.cay.server.edge;

import dev.cay.http.ErrorRenderer;
import dev.cay.http.Exchange;
import dev.cay.http.PageOrJson;
import dev.cay.proxy.LastHop;
import dev.cay.proxy.WithheldHeaders;
import dev.cay.server.access.Access;
import dev.cay.server.access.AdminToken;
import dev.cay.server.access.SandboxTokens;
import dev.cay.server.people.Browsers;
import dev.cay.server.quota.Quotas;
import dev.cay.server.sandbox.Pauses;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.sandbox.SandboxRecord;
import dev.cay.server.sandbox.SandboxState;
import dev.cay.wire.CayException;
import dev.cay.wire.EdgeAnswer;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.FileSignature;
import dev.cay.wire.SandboxAddress;
import dev.cay.wire.SystemPorts;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Set;

/// Lets a request through to a port of a sandbox, if it is permitted and the sandbox runs or can be resumed by traffic.
public final class SandboxGate {
    /// Routes that only the platform itself may use where the protocol has them.
    private static final Set<String> INTERNAL =
            Set.of("/init", "/freeze", "/unfreeze", "/fsfreeze", "/fsthaw", "/collapse", "/upgrade");

    private final SandboxDirectory directory;
    private final Pauses pauses;
    private final Access access;
    private final SandboxTokens tokens;
    private final SandboxPorts ports;
    private final Quotas quotas;
    private final InstantSource clock;
    private final Crossings crossings;

    public SandboxGate(
            SandboxDirectory directory,
            Pauses pauses,
            Access access,
            SandboxTokens tokens,
            SandboxPorts ports,
            Quotas quotas,
            InstantSource clock,
            Crossings crossings) {
        this.access = access;
        this.directory = directory;
        this.pauses = pauses;
        this.tokens = tokens;
        this.ports = ports;
        this.quotas = quotas;
        this.clock = clock;
        this.crossings = crossings;
    }

    void pass(SandboxAddress asked, Exchange exchange) throws Exception {
        var led = crossings.lead(asked, exchange);
        if (led.isEmpty()) {
            return;
        }
        var address = led.get();
        var found = directory.find(address.sandbox()).filter(SandboxGate::servesRequests);
        if (found.isEmpty()) {
            PageOrJson.send(
                    exchange, EdgeAnswer.sandboxNotFound(address.sandbox().value()));
            return;
        }
        var sandbox = found.get();
        boolean system = address.port() == SystemPorts.ENVD;
        if (!isWithinLimits(sandbox, system, exchange)) {
            return;
        }
        if (system && INTERNAL.contains(cleaned(exchange.path()))) {
            refuseInternal(exchange);
            return;
        }
        if (!system && !mayEnter(sandbox, exchange)) {
            PageOrJson.send(
                    exchange, EdgeAnswer.trafficTokenNeeded(address.sandbox().value()));
            return;
        }
        if (sandbox.state() != SandboxState.RUNNING && !wake(sandbox, system, exchange)) {
            return;
        }
        String mask = sandbox.network().maskRequestHost();
        if (mask != null && !system) {
            exchange.upstreamHost(mask.replace("${PORT}", Integer.toString(address.port())));
        }
        if (!system && sandbox.network().isHttps(address.port())) {
            LastHop.useTls(exchange);
        }
        if (!crossings.transform(asked, address, exchange)) {
            return;
        }
        WithheldHeaders.headers(exchange, credentials(sandbox, exchange));
        ports.handle(address, exchange);
    }

    /// Requests with a token of the sandbox count for its team and for the key that created it, others for the sandbox
    /// alone.
    private boolean isWithinLimits(SandboxRecord sandbox, boolean system, Exchange exchange) {
        try {
            if (system ? opensSystemPort(sandbox, exchange) : showsTrafficToken(sandbox, exchange)) {
                quotas.operation(sandbox.teamId(), sandbox.keyFamily());
            } else {
                quotas.strange(sandbox.teamId(), sandbox.keyFamily(), sandbox.id());
            }
            return true;
        } catch (CayException e) {
            e.retryAfter().ifPresent(exchange::retryAfter);
            PageOrJson.send(
                    exchange,
                    EdgeAnswer.refusal(
                            ErrorRenderer.status(e.kind()), sandbox.id().value(), e.userMessage()));
            return false;
        }
    }

    /// The headers whose values are credentials of Cay. Servers in sandboxes use these names too, so values that Cay
    /// does not know are passed on.
    private Set<String> credentials(SandboxRecord sandbox, Exchange exchange) {
        var names = new HashSet<String>();
        String key = exchange.header("X-API-Key");
        if (key != null && access.knows(key)) {
            names.add("X-API-Key");
        }
        if (access.isOperator(exchange)) {
            names.add(AdminToken.HEADER);
        }
        String bearer = exchange.header("Authorization");
        if (bearer != null && bearer.regionMatches(true, 0, "Bearer ", 0, 7) && access.knows(bearer.substring(7))) {
            names.add("Authorization");
        }
        if (Browsers.hasCookie(exchange)) {
            names.add("Cookie");
        }
        String token = exchange.header("X-Access-Token");
        if (token != null
                && (directory.findByToken(token).isPresent()
                        || tokens.access(sandbox.id(), sandbox.tokenVersion()).matches(token))) {
            names.add("X-Access-Token");
        }
        String traffic = exchange.header(SandboxTokens.TRAFFIC_HEADER);
        if (traffic != null
                && tokens.traffic(sandbox.id(), sandbox.tokenVersion()).matches(traffic)) {
            names.add(SandboxTokens.TRAFFIC_HEADER);
        }
        return names;
    }

    /// Whether requests are served: a sandbox that resumes is waited for, a paused one only if traffic may resume it.
    private static boolean servesRequests(SandboxRecord sandbox) {
        return switch (sandbox.state()) {
            case RUNNING, RESUMING -> true;
            case PAUSING, PAUSED -> sandbox.wakes();
            case STARTING, KILLED -> false;
        };
    }

    private static void refuseInternal(Exchange exchange) {
        var answer = new LinkedHashMap<String, Object>();
        answer.put("code", 404);
        answer.put("message", "this route is not served to clients");
        answer.put("path", exchange.path());
        exchange.sendJson(404, answer);
    }

    /// Holds the request, its body unread, until the sandbox runs. Only for authorized requests, because a stranger
    /// could keep the sandbox running otherwise.
    ///
    /// @return whether it runs; if not, the request was answered
    private boolean wake(SandboxRecord sandbox, boolean system, Exchange exchange) {
        String id = sandbox.id().value();
        if (system && sandbox.secure() && !opensSystemPort(sandbox, exchange)) {
            PageOrJson.send(
                    exchange,
                    EdgeAnswer.refusal(
                            403, id, "The sandbox is paused: send its access token in the header X-Access-Token"));
            return false;
        }
        try {
            pauses.wake(sandbox);
            return true;
        } catch (CayException e) {
            e.retryAfter().ifPresent(exchange::retryAfter);
            if (e.kind() == ErrorKind.NOT_FOUND) {
                PageOrJson.send(exchange, EdgeAnswer.sandboxNotFound(id));
            } else {
                PageOrJson.send(exchange, EdgeAnswer.refusal(ErrorRenderer.status(e.kind()), id, e.userMessage()));
            }
            return false;
        }
    }

    /// The system port of a sandbox that runs checks this itself.
    private boolean opensSystemPort(SandboxRecord sandbox, Exchange exchange) {
        var token = tokens.access(sandbox.id(), sandbox.tokenVersion());
        if (token.matches(exchange.header("X-Access-Token"))) {
            return true;
        }
        return exchange.path().equals("/files")
                && FileSignature.of(exchange.method(), exchange::query)
                        .filter(signature -> signature.madeWith(token) && !expired(signature))
                        .isPresent();
    }

    private boolean expired(FileSignature signature) {
        String expiration = signature.expiration();
        try {
            return expiration != null
                    && Long.parseLong(expiration) < clock.instant().getEpochSecond();
        } catch (NumberFormatException e) {
            return true;
        }
    }

    private boolean mayEnter(SandboxRecord sandbox, Exchange exchange) {
        return sandbox.network().allowPublicTraffic() || showsTrafficToken(sandbox, exchange);
    }

    private boolean showsTrafficToken(SandboxRecord sandbox, Exchange exchange) {
        return tokens.traffic(sandbox.id(), sandbox.tokenVersion())
                .matches(exchange.header(SandboxTokens.TRAFFIC_HEADER));
    }

    /// The path as a lenient server would understand it: `//%69nit/` is `/init`.
    private static String cleaned(String path) {
        String decoded;
        try {
            decoded = URLDecoder.decode(path.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return path;
        }
        var parts = new ArrayDeque<String>();
        for (String part : decoded.split("/")) {
            if (part.equals("..")) {
                parts.pollLast();
            } else if (!part.isEmpty() && !part.equals(".")) {
                parts.addLast(part);
            }
        }
        return "/" + String.join("/", parts);
    }
}
