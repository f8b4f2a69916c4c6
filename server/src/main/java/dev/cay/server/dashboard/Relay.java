package dev.cay.server.dashboard;

import dev.cay.http.Exchange;
import dev.cay.proxy.LastHop;
import dev.cay.server.access.Access;
import dev.cay.server.access.KeyScope;
import dev.cay.server.access.SandboxTokens;
import dev.cay.server.people.Browsers;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxAddress;
import dev.cay.wire.SandboxId;
import dev.cay.wire.SystemPorts;
import dev.cay.wire.TeamId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Passes calls of the dashboard's pages on: to the API, or to the system ports of a sandbox, which headers name.
///
/// Pages of sandboxes belong to the dashboard's site, so browsers send its cookies with what these pages ask for.
/// Each call must therefore carry a token that only pages of this origin can read, in a header that no form and no
/// link can set.
/// Answers come from sandboxes too: no browser may show one as a page of this origin.
final class Relay {
    static final String PREFIX = "/dashboard/api";
    static final String TOKEN = "X-Cay-Dashboard";

    private static final String TEAM = "X-Team-ID";
    private static final String SANDBOX = "E2b-Sandbox-Id";
    private static final String PORT = "E2b-Sandbox-Port";
    private static final Set<String> READS = Set.of("GET", "HEAD");

    /// Files of volumes open to a token of the volume, which the page was given and sends itself.
    private static final String VOLUME_FILES = "/volumecontent/";

    /// The ports that Cay itself answers, in this order in messages. A server of the user's may have taken the last
    /// two where Cay does not need them.
    private static final List<String> PORTS = List.of(
            Integer.toString(SystemPorts.ENVD),
            Integer.toString(SystemPorts.INTERPRETER),
            Integer.toString(SystemPorts.MCP));

    /// What pages get of the head of such a server's answer. Cookies, redirects and policies for this origin are none
    /// of it.
    private static final Set<String> ANSWER = Set.of(
            "content-encoding",
            "content-length",
            "content-type",
            "mcp-protocol-version",
            "mcp-session-id",
            "retry-after");

    private final Viewers viewers;
    private final Browsers browsers;
    private final Access access;
    private final SandboxDirectory directory;
    private final SandboxTokens tokens;
    private final String domain;
    private final Onward onward;

    /// @param domain suffix of sandboxes' host names
    Relay(
            Viewers viewers,
            Browsers browsers,
            Access access,
            SandboxDirectory directory,
            SandboxTokens tokens,
            String domain,
            Onward onward) {
        this.viewers = viewers;
        this.browsers = browsers;
        this.access = access;
        this.directory = directory;
        this.tokens = tokens;
        this.domain = domain;
        this.onward = onward;
    }

    void handle(Exchange exchange) throws Exception {
        var viewer = viewers.require(exchange);
        requireOwn(exchange, viewer);
        exchange.with("Content-Security-Policy", "sandbox; default-src 'none'; frame-ancestors 'none'")
                .with("X-Content-Type-Options", "nosniff")
                .with("Cross-Origin-Resource-Policy", "same-origin");
        String path = exchange.path().substring(PREFIX.length());
        if (exchange.header(SANDBOX) == null && path.startsWith(VOLUME_FILES)) {
            var without = Set.of("Cookie", TOKEN, "X-API-Key", "X-Admin-Token", "X-Access-Token", TEAM);
            onward.toApi(exchange.goOnAt(path, without, Map.of()));
        } else if (exchange.header(SANDBOX) == null) {
            var without = Set.of("Cookie", TOKEN, "Authorization", "X-API-Key", "X-Admin-Token", "X-Access-Token");
            onward.toApi(exchange.goOnAt(path, without, viewer.credential()));
        } else {
            var without = Set.of("Cookie", TOKEN, "X-API-Key", "X-Admin-Token", TEAM, "Origin", "Referer");
            toSandbox(viewer, exchange, path, without);
        }
    }

    /// Also for reads, as their answers are only for pages of this origin.
    private void requireOwn(Exchange exchange, Viewer viewer) {
        String token = exchange.header(TOKEN);
        boolean reads = READS.contains(exchange.method());
        if (token == null
                || !same(token, viewer.token())
                || browsers.isForeign(exchange)
                || (!reads && !browsers.isOwnForm(exchange))) {
            throw new CayException(ErrorKind.PERMISSION_DENIED, "this did not come from a page of the dashboard");
        }
    }

    private void toSandbox(Viewer viewer, Exchange exchange, String path, Set<String> without) throws Exception {
        var address = address(exchange.header(SANDBOX), exchange.header(PORT));
        var sandbox = directory
                .find(address.sandbox())
                .filter(found -> isOpenTo(viewer, found.teamId(), address.sandbox()))
                .orElseThrow(() -> new CayException(
                        ErrorKind.NOT_FOUND, "there is no sandbox %s that you may open".formatted(address.sandbox())));
        // Who may open the sandbox may enter its ports.
        String traffic = tokens.traffic(sandbox.id(), sandbox.tokenVersion()).value();
        // By the name that it has for all clients: a gateway refuses other names, and pages of other origins.
        String host = "%d-%s.%s".formatted(address.port(), sandbox.id(), domain);
        exchange.goOnAt(path, without, Map.of(SandboxTokens.TRAFFIC_HEADER, traffic, "Host", host));
        LastHop.answerOnlyWith(exchange, ANSWER);
        access.holders()
                .serve(
                        viewer.holder(),
                        sandbox.teamId(),
                        KeyScope.of(address.sandbox()),
                        exchange,
                        () -> onward.toSandbox(address, exchange));
    }

    private static boolean isOpenTo(Viewer viewer, TeamId owner, SandboxId id) {
        return viewer.rightsIn(owner).filter(rights -> rights.scope().opens(id)).isPresent();
    }

    private static SandboxAddress address(@Nullable String id, @Nullable String port) {
        if (id == null || port == null || !PORTS.contains(port)) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "the headers E2b-Sandbox-Id and E2b-Sandbox-Port must name a sandbox and port %s"
                            .formatted(String.join(" or ", PORTS)));
        }
        return new SandboxAddress(SandboxId.parse(id), Integer.parseInt(port));
    }

    private static boolean same(String one, String other) {
        return MessageDigest.isEqual(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
    }
}
