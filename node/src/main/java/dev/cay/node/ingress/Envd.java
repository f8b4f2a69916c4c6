package dev.cay.node.ingress;

import dev.cay.connect.ConnectRoutes;
import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.http.Routes;
import dev.cay.metrics.Meters;
import dev.cay.node.files.FileTree;
import dev.cay.node.log.SandboxLog;
import dev.cay.node.process.ProcessTable;
import dev.cay.wire.AccessToken;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.ResourceUse;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Port 49983 of one sandbox: processes, files and health, as E2B's clients ask for them. Owns nothing that must be
/// closed; routes that E2B's own platform uses inside (`/init`, `/freeze` and so on) do not exist.
public final class Envd implements Handler {
    /// Clients who follow a process go on when their sandbox was away for a moment, to be saved.
    public interface Followers {
        /// From now on the exchange outlasts such a moment.
        void add(Exchange exchange);

        /// Waits until the sandbox is back.
        ///
        /// @return the table that goes on with its processes
        ProcessTable rejoin(Exchange exchange) throws InterruptedException;
    }

    /// What the routes know of their sandbox.
    ///
    /// @param defaults       variables of every process that nobody asked for, and anybody may replace
    /// @param environment    the variables its creator asked for
    /// @param accessToken    what requests must carry, or null when it is open to all
    /// @param defaultWorkdir where processes start, or null for the user's home
    /// @param followers      sees to those who follow a process
    public record Sandbox(
            SandboxId id,
            TemplateId templateId,
            Map<String, String> defaults,
            Map<String, String> environment,
            @Nullable AccessToken accessToken,
            String defaultUser,
            @Nullable String defaultWorkdir,
            ProcessTable processes,
            FileTree files,
            Followers followers,
            Supplier<ResourceUse> use,
            SandboxLog log) {
        public Sandbox {
            defaults = Map.copyOf(defaults);
            environment = Map.copyOf(environment);
        }

        Map<String, String> variables() {
            return variables(id, templateId, environment);
        }

        Map<String, String> identity() {
            return identity(id, templateId);
        }

        /// Variables of every process; those that tell it where it is cannot be chosen.
        public static Map<String, String> variables(
                SandboxId id, TemplateId templateId, Map<String, String> environment) {
            var all = new TreeMap<>(environment);
            all.putAll(identity(id, templateId));
            return all;
        }

        private static Map<String, String> identity(SandboxId id, TemplateId templateId) {
            return Map.of("E2B_SANDBOX", "true", "E2B_SANDBOX_ID", id.value(), "E2B_TEMPLATE_ID", templateId.value());
        }
    }

    private static final String UNAUTHORIZED =
            "unauthorized access, please provide a valid access token or method signing if supported";

    private final Sandbox sandbox;
    private final Routes routes;
    private final ConnectRoutes calls;

    public Envd(Sandbox sandbox, InstantSource clock, Meters meters) {
        this.sandbox = sandbox;
        this.calls = new ConnectRoutes(meters);
        var users = new Users(sandbox.files(), sandbox.defaultUser());
        var files = new FileRoutes(sandbox, users, clock);
        this.routes = new Routes()
                .on(
                        "GET",
                        "/health",
                        exchange -> exchange.with("Cache-Control", "no-store").send(204))
                .on(
                        "GET",
                        "/metrics",
                        exchange -> exchange.with("Cache-Control", "no-store")
                                .sendJson(200, metrics(sandbox.use().get())))
                .on(
                        "GET",
                        "/envs",
                        exchange -> exchange.with("Cache-Control", "no-store").sendJson(200, sandbox.variables()))
                .on("GET", "/files", files::download)
                .on("HEAD", "/files", files::download)
                .on("POST", "/files", files::upload)
                .on("POST", "/files/compose", new ComposeRoute(sandbox, users)::compose);
        new ProcessCalls(sandbox, users).addTo(calls);
        new FilesystemCalls(sandbox, users).addTo(calls);
        new WatchCalls(sandbox, users).addTo(calls);
    }

    @Override
    public void handle(Exchange exchange) throws Exception {
        exchange.with("Access-Control-Allow-Origin", "*")
                .with(
                        "Access-Control-Expose-Headers",
                        "Location, Cache-Control, X-Content-Type-Options, Connect-Content-Encoding,"
                                + " Connect-Accept-Encoding, Grpc-Status, Grpc-Message, Cay-Output-From");
        if (exchange.method().equals("OPTIONS")) {
            preflight(exchange);
            return;
        }
        authorize(exchange);
        if (calls.knows(exchange.path())) {
            calls.handle(exchange);
        } else {
            routes.handle(exchange);
        }
    }

    private static void preflight(Exchange exchange) {
        String headers = exchange.header("Access-Control-Request-Headers");
        exchange.with("Access-Control-Allow-Methods", "HEAD, GET, POST, PUT, PATCH, DELETE")
                .with("Access-Control-Allow-Headers", headers == null ? "*" : headers)
                .with("Access-Control-Max-Age", "7200")
                .send(204);
    }

    private void authorize(Exchange exchange) {
        var token = sandbox.accessToken();
        if (token == null || exempt(exchange)) {
            return;
        }
        if (!token.matches(exchange.header("X-Access-Token"))) {
            throw new CayException(ErrorKind.UNAUTHENTICATED, UNAUTHORIZED);
        }
    }

    private static boolean exempt(Exchange exchange) {
        return switch (exchange.path()) {
            case "/health" -> exchange.method().equals("GET");
            // They have a way of their own to show that they may: a signature.
            case "/files" -> true;
            default -> false;
        };
    }

    private static Map<String, Object> metrics(ResourceUse use) {
        var values = new LinkedHashMap<String, Object>();
        values.put("ts", use.at().getEpochSecond());
        values.put("cpu_count", use.cpuCount());
        values.put("cpu_used_pct", Math.round(use.cpuPercent() * 100) / 100.0);
        values.put("mem_total", use.memoryTotal());
        values.put("mem_used", use.memoryUsed());
        values.put("mem_cache", use.memoryCache());
        values.put("mem_total_mib", use.memoryTotal() >> 20);
        values.put("mem_used_mib", use.memoryUsed() >> 20);
        values.put("disk_used", use.diskUsed());
        values.put("disk_total", use.diskTotal());
        return values;
    }
}
