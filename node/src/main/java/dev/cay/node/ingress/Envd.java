package dev.cay.node.ingress;

import dev.cay.connect.ConnectRoutes;
import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.http.Routes;
import dev.cay.metrics.Meters;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.ResourceUse;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;

/// Port 49983 of one sandbox: processes, files and health, as E2B's clients ask for them. Owns nothing that must be
/// closed; routes that E2B's own platform uses inside (`/init`, `/freeze` and so on) do not exist.
public final class Envd implements Handler {
    private static final String UNAUTHORIZED =
            "unauthorized access, please provide a valid access token or method signing if supported";

    private final EnvdSandbox sandbox;
    private final Routes routes;
    private final ConnectRoutes calls;

    public Envd(EnvdSandbox sandbox, InstantSource clock, Meters meters) {
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
                .on(
                        "GET",
                        "/ports",
                        exchange -> exchange.with("Cache-Control", "no-store")
                                .sendJson(
                                        200,
                                        Map.of("listening", sandbox.listening().get())))
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
