package dev.cay.server.edge;

import dev.cay.http.EdgeAnswers;
import dev.cay.http.Exchange;
import dev.cay.http.SandboxAddress;
import dev.cay.http.SandboxPorts;
import dev.cay.server.access.SandboxTokens;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.sandbox.SandboxRecord;
import dev.cay.server.sandbox.SandboxState;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Set;

/// Lets a request through to a port of a sandbox, if that runs and the request may.
public final class SandboxGate {
    private static final int SYSTEM_PORT = 49983;
    /// Routes that only the platform itself may use where the protocol has them.
    private static final Set<String> INTERNAL =
            Set.of("/init", "/freeze", "/unfreeze", "/fsfreeze", "/fsthaw", "/collapse", "/upgrade");

    private final SandboxDirectory directory;
    private final SandboxTokens tokens;
    private final SandboxPorts ports;

    public SandboxGate(SandboxDirectory directory, SandboxTokens tokens, SandboxPorts ports) {
        this.directory = directory;
        this.tokens = tokens;
        this.ports = ports;
    }

    void pass(SandboxAddress address, Exchange exchange) throws Exception {
        var sandbox = directory.find(address.sandbox()).filter(found -> found.state() == SandboxState.RUNNING);
        if (sandbox.isEmpty()) {
            EdgeAnswers.sandboxNotFound(exchange, address.sandbox().value());
            return;
        }
        if (address.port() == SYSTEM_PORT) {
            passToSystemPort(address, exchange);
            return;
        }
        if (!mayEnter(sandbox.get(), exchange)) {
            EdgeAnswers.trafficTokenNeeded(exchange, address.sandbox().value());
            return;
        }
        String mask = sandbox.get().network().maskRequestHost();
        if (mask != null) {
            exchange.upstreamHost(mask.replace("${PORT}", Integer.toString(address.port())));
        }
        ports.handle(address, exchange);
    }

    /// The system port checks its own token.
    private void passToSystemPort(SandboxAddress address, Exchange exchange) throws Exception {
        if (INTERNAL.contains(cleaned(exchange.path()))) {
            var answer = new LinkedHashMap<String, Object>();
            answer.put("code", 404);
            answer.put("message", "this route is not served to clients");
            answer.put("path", exchange.path());
            exchange.sendJson(404, answer);
            return;
        }
        ports.handle(address, exchange);
    }

    private boolean mayEnter(SandboxRecord sandbox, Exchange exchange) {
        if (sandbox.network().allowPublicTraffic()) {
            return true;
        }
        String token = exchange.header("e2b-traffic-access-token");
        return token != null
                && MessageDigest.isEqual(
                        token.getBytes(StandardCharsets.UTF_8),
                        tokens.traffic(sandbox.id()).getBytes(StandardCharsets.UTF_8));
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
