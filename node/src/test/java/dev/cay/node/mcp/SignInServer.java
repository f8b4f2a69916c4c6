package dev.cay.node.mcp;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.cay.http.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.JsonNode;

/// An MCP server that wants a token, and the authorization server that issues it, on one port. It keeps to the rules,
/// unless a test changes what it says.
final class SignInServer implements AutoCloseable {
    private final HttpServer http;
    private final AtomicInteger numbers = new AtomicInteger();

    /// Codes that were given out, with what was asked for.
    private final Map<String, Map<String, String>> codes = new ConcurrentHashMap<>();

    /// What access tokens allow.
    final Map<String, String> good = new ConcurrentHashMap<>();

    final Map<String, Boolean> refreshTokens = new ConcurrentHashMap<>();

    /// What is said instead in a description, by its path; null for 404.
    final Map<String, String> instead = new ConcurrentHashMap<>();

    /// Paths and forms of what was posted to the authorization server.
    final Queue<String> posted = new ConcurrentLinkedQueue<>();

    /// What came as `Authorization` with each request to the MCP server; empty where none did.
    final Queue<String> credentials = new ConcurrentLinkedQueue<>();

    /// What came as `Authorization` with each `initialize`; empty where none did.
    final Queue<String> introductions = new ConcurrentLinkedQueue<>();

    /// What the MCP server says with 401 and 403.
    volatile String challenge;

    /// How often it was asked anything.
    final AtomicInteger asked = new AtomicInteger();

    /// Where it sends those who show a good token; empty for nowhere.
    volatile String redirect = "";

    volatile int lifetime = 3600;
    volatile boolean registers = true;
    volatile boolean saysIssuer = true;
    volatile String callScope = "read";

    SignInServer() throws IOException {
        this("127.0.0.1");
    }

    SignInServer(String address) throws IOException {
        http = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral(address), 0), 0);
        http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        http.createContext("/", this::serve);
        http.start();
        challenge = "Bearer resource_metadata=\"%s/.well-known/oauth-protected-resource/mcp\", scope=\"read\""
                .formatted(origin());
    }

    String origin() {
        return "http://%s:%d"
                .formatted(http.getAddress().getHostString(), http.getAddress().getPort());
    }

    String url() {
        return origin() + "/mcp";
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            asked.incrementAndGet();
            String path = exchange.getRequestURI().getPath();
            if (instead.containsKey(path)) {
                answer(exchange, instead.get(path).isEmpty() ? 404 : 200, instead.get(path));
                return;
            }
            switch (path) {
                case "/.well-known/oauth-protected-resource/mcp" -> answer(exchange, 200, resource(url(), origin()));
                case "/.well-known/oauth-authorization-server" -> answer(exchange, 200, description(origin()));
                case "/register" -> register(exchange);
                case "/token" -> token(exchange);
                case "/revoke" -> {
                    posted.add(path + " " + form(exchange));
                    answer(exchange, 200, "{}");
                }
                case "/mcp" -> mcp(exchange);
                default -> answer(exchange, 404, "");
            }
        }
    }

    static String resource(String resource, String issuer) {
        return """
                {"resource": "%s", "authorization_servers": ["%s"], "scopes_supported": ["read"]}""".formatted(resource, issuer);
    }

    String description(String issuer) {
        return """
                {"issuer": "%s", "authorization_endpoint": "%s/authorize", "token_endpoint": "%s/token", %s
                 "revocation_endpoint": "%s/revoke", "code_challenge_methods_supported": ["S256"],
                 "token_endpoint_auth_methods_supported": ["none"], "scopes_supported": ["read", "offline_access"],
                 "authorization_response_iss_parameter_supported": %s}""".formatted(
                        issuer,
                        origin(),
                        origin(),
                        registers ? "\"registration_endpoint\": \"" + origin() + "/register\"," : "",
                        origin(),
                        saysIssuer);
    }

    private void register(HttpExchange exchange) throws IOException {
        var asked = Json.mapper().readTree(exchange.getRequestBody().readAllBytes());
        posted.add("/register " + asked.path("redirect_uris").path(0).asString(""));
        answer(exchange, 201, "{\"client_id\": \"client-%d\"}".formatted(numbers.incrementAndGet()));
    }

    /// What the user's browser does: the user says yes, and is sent back.
    ///
    /// @return the address at which the browser ends
    URI agree(String link) {
        var asked = fields(URI.create(link).getRawQuery());
        String code = "code-" + numbers.incrementAndGet();
        codes.put(code, asked);
        return URI.create(
                "%s?code=%s&state=%s&iss=%s".formatted(asked.get("redirect_uri"), code, asked.get("state"), origin()));
    }

    private void token(HttpExchange exchange) throws IOException {
        var form = form(exchange);
        posted.add("/token " + form);
        boolean right = url().equals(form.get("resource"))
                && form.getOrDefault("client_id", "").startsWith("client-");
        String scope = "read";
        if ("authorization_code".equals(form.get("grant_type"))) {
            var asked = codes.remove(form.getOrDefault("code", ""));
            right &= asked != null
                    && asked.get("code_challenge").equals(hash(form.getOrDefault("code_verifier", "")))
                    && asked.get("redirect_uri").equals(form.get("redirect_uri"))
                    && url().equals(asked.get("resource"));
            scope = asked == null ? "" : asked.getOrDefault("scope", "");
        } else {
            right &= refreshTokens.remove(form.getOrDefault("refresh_token", "")) != null;
        }
        if (!right) {
            answer(exchange, 400, "{\"error\": \"invalid_grant\"}");
            return;
        }
        String access = "access-" + numbers.incrementAndGet();
        String refresh = "refresh-" + numbers.incrementAndGet();
        good.put(access, scope);
        refreshTokens.put(refresh, true);
        answer(exchange, 200, """
                {"access_token": "%s", "token_type": "Bearer", "expires_in": %d, "refresh_token": "%s"}""".formatted(access, lifetime, refresh));
    }

    private void mcp(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        String shown = Objects.requireNonNullElse(exchange.getRequestHeaders().getFirst("Authorization"), "");
        credentials.add(shown);
        if (new String(body, StandardCharsets.UTF_8).contains("\"initialize\"")) {
            introductions.add(shown);
        }
        String scope = shown.startsWith("Bearer ") ? good.get(shown.substring(7)) : null;
        if (scope == null) {
            exchange.getResponseHeaders().set("WWW-Authenticate", challenge);
            answer(exchange, 401, "");
            return;
        }
        if (!redirect.isEmpty()) {
            exchange.getResponseHeaders().set("Location", redirect);
            answer(exchange, 307, "");
            return;
        }
        if (!exchange.getRequestMethod().equals("POST")) {
            answer(exchange, 405, "");
            return;
        }
        var message = Json.mapper().readTree(body);
        if (message.path("method").asString("").equals("tools/call")
                && !List.of(scope.split(" ")).contains(callScope)) {
            exchange.getResponseHeaders()
                    .set("WWW-Authenticate", "Bearer error=\"insufficient_scope\", scope=\"%s\"".formatted(callScope));
            answer(exchange, 403, "");
            return;
        }
        speak(exchange, message);
    }

    private static void speak(HttpExchange exchange, JsonNode message) throws IOException {
        var result = Json.mapper().createObjectNode();
        switch (message.path("method").asString("")) {
            case "initialize" -> {
                result.put("protocolVersion", "2025-11-25");
                result.putObject("capabilities").putObject("tools");
            }
            case "tools/list" -> {
                var tool = result.putArray("tools").addObject().put("name", "sing");
                tool.putObject("inputSchema").put("type", "object");
            }
            case "tools/call" ->
                result.putArray("content").addObject().put("type", "text").put("text", "la");
            default -> {
                answer(exchange, 202, "");
                return;
            }
        }
        var response = Json.mapper().createObjectNode().put("jsonrpc", "2.0");
        response.set("id", message.path("id"));
        response.set("result", result);
        answer(exchange, 200, Json.text(response));
    }

    private static Map<String, String> form(HttpExchange exchange) throws IOException {
        return fields(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
    }

    private static Map<String, String> fields(String text) {
        var fields = new LinkedHashMap<String, String>();
        for (String pair : text.split("&")) {
            String[] both = pair.split("=", 2);
            fields.put(both[0], URLDecoder.decode(both.length > 1 ? both[1] : "", StandardCharsets.UTF_8));
        }
        return fields;
    }

    private static String hash(String verifier) {
        try {
            return Base64.getUrlEncoder()
                    .withoutPadding()
                    .encodeToString(
                            MessageDigest.getInstance("SHA-256").digest(verifier.getBytes(StandardCharsets.US_ASCII)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void answer(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > 0) {
            exchange.getResponseHeaders().set("Content-Type", "application/json");
        }
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    @Override
    public void close() {
        http.stop(0);
    }
}
