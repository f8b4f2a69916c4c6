package dev.cay.server;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import tools.jackson.databind.json.JsonMapper;

/// An issuer of OpenID Connect on a loopback port, which signs in whom the test says. It checks what an issuer checks:
/// the redirect address, the client's secret and PKCE, and takes each code once.
final class TestIssuer implements AutoCloseable {
    static final String CLIENT = "cay";
    static final String SECRET = "s3cret+/&";

    /// By what they are called here. To make one takes a second of processor time, so all issuers of a process share
    /// them.
    private static final Map<String, RSAKey> KEYS = new ConcurrentHashMap<>();

    private final HttpServer server;
    private volatile RSAKey key;
    private final Map<String, AtomicInteger> requests = new ConcurrentHashMap<>();
    private final Map<String, Map<String, String>> asked = new ConcurrentHashMap<>();
    private final AtomicInteger codes = new AtomicInteger();

    /// Who is signed in next.
    volatile String email = "ann@example.org";

    volatile String subject = "account-1";
    volatile boolean verified = true;

    /// Whether the address is told by the second endpoint only.
    volatile boolean emailElsewhere;

    /// Whether the second endpoint alone says that the address is verified.
    volatile boolean verifiedElsewhere;

    /// Whether the second endpoint answers with a signed text.
    volatile boolean toldSigned;

    /// Changes what the id token says.
    volatile Function<JWTClaimsSet.Builder, JWTClaimsSet.Builder> claims = Function.identity();

    /// How the id token is signed: `good`, `none`, `other` key, or `hmac` with the public client id.
    volatile String signature = "good";

    volatile String redirectAllowed = "";

    TestIssuer() throws Exception {
        key = key("first", "k1");
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        serve("/.well-known/openid-configuration", exchange -> send(exchange, 200, metadata()));
        serve("/keys", exchange -> send(exchange, 200, new JWKSet(key.toPublicJWK()).toString()));
        serve("/token", this::token);
        serve("/userinfo", this::userinfo);
        server.start();
    }

    private static RSAKey key(String name, String id) {
        return KEYS.computeIfAbsent(name, _ -> {
            try {
                return new RSAKeyGenerator(2048).keyID(id).generate();
            } catch (JOSEException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private void serve(String path, HttpHandler handler) {
        server.createContext(path, exchange -> {
            requests.computeIfAbsent(path, _ -> new AtomicInteger()).incrementAndGet();
            handler.handle(exchange);
        });
    }

    /// How often this path was asked for.
    int asked(String path) {
        return requests.getOrDefault(path, new AtomicInteger()).get();
    }

    /// From now on another key signs.
    void replaceKey() {
        key = key("second", "k2");
    }

    URI url() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    private String metadata() {
        var about = new LinkedHashMap<String, Object>();
        about.put("issuer", url().toString());
        about.put("authorization_endpoint", url() + "/authorize");
        about.put("token_endpoint", url() + "/token");
        about.put("jwks_uri", url() + "/keys");
        about.put("userinfo_endpoint", url() + "/userinfo");
        about.put("response_types_supported", new String[] {"code"});
        about.put("subject_types_supported", new String[] {"public"});
        about.put("id_token_signing_alg_values_supported", new String[] {"RS256"});
        return JsonMapper.shared().writeValueAsString(about);
    }

    /// What a browser comes back with that was sent here: query of the callback.
    String signIn(String address) {
        var query = query(URI.create(address).getRawQuery());
        if (!redirectAllowed.equals(query.get("redirect_uri"))
                || !CLIENT.equals(query.get("client_id"))
                || !"S256".equals(query.get("code_challenge_method"))
                || !"code".equals(query.get("response_type"))) {
            throw new AssertionError("the issuer refuses " + address);
        }
        String code = "code-" + codes.incrementAndGet();
        asked.put(code, query);
        return "code=%s&state=%s".formatted(code, query.get("state"));
    }

    private void token(HttpExchange exchange) throws IOException {
        var form = query(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
        var query = asked.remove(form.getOrDefault("code", ""));
        String credentials = "Basic "
                + Base64.getEncoder().encodeToString((CLIENT + ":s3cret%2B%2F%26").getBytes(StandardCharsets.UTF_8));
        if (query == null
                || !credentials.equals(exchange.getRequestHeaders().getFirst("Authorization"))
                || !redirectAllowed.equals(form.get("redirect_uri"))
                || !hash(form.getOrDefault("code_verifier", "")).equals(query.get("code_challenge"))) {
            send(exchange, 400, "{\"error\": \"invalid_grant\"}");
            return;
        }
        var answer = new LinkedHashMap<String, Object>();
        answer.put("access_token", "of the issuer");
        answer.put("token_type", "Bearer");
        answer.put("id_token", idToken(Objects.requireNonNull(query.get("nonce"))));
        send(exchange, 200, JsonMapper.shared().writeValueAsString(answer));
    }

    private String idToken(String nonce) {
        var now = Instant.now();
        var builder = new JWTClaimsSet.Builder()
                .issuer(url().toString())
                .audience(CLIENT)
                .subject(subject)
                .claim("nonce", nonce)
                .issueTime(Date.from(now))
                .expirationTime(Date.from(now.plusSeconds(300)));
        if (!emailElsewhere) {
            builder.claim("email", email).claim("email_verified", verifiedElsewhere ? null : verified);
        }
        return signed(claims.apply(builder).build());
    }

    private String signed(JWTClaimsSet content) {
        try {
            if (signature.equals("none")) {
                return new PlainJWT(content).serialize();
            }
            boolean shared = signature.equals("hmac");
            var header = new JWSHeader.Builder(shared ? JWSAlgorithm.HS256 : JWSAlgorithm.RS256)
                    .keyID(key.getKeyID())
                    .build();
            JWSSigner signer = shared
                    ? new MACSigner(key.toPublicJWK().toJSONString().getBytes(StandardCharsets.UTF_8))
                    : new RSASSASigner(signature.equals("other") ? key("a stranger's", "k1") : key);
            var token = new SignedJWT(header, content);
            token.sign(signer);
            return token.serialize();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    private void userinfo(HttpExchange exchange) throws IOException {
        if (toldSigned) {
            send(
                    exchange,
                    "application/jwt",
                    signed(new JWTClaimsSet.Builder().subject(subject).build()));
            return;
        }
        send(
                exchange,
                200,
                JsonMapper.shared()
                        .writeValueAsString(Map.of("sub", subject, "email", email, "email_verified", verified)));
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

    private static Map<String, String> query(String text) {
        var values = new HashMap<String, String>();
        for (String pair : text.split("&")) {
            String[] parts = pair.split("=", 2);
            values.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
        }
        return values;
    }

    private static void send(HttpExchange exchange, int status, String json) throws IOException {
        send(exchange, status, "application/json", json);
    }

    private static void send(HttpExchange exchange, String type, String text) throws IOException {
        send(exchange, 200, type, text);
    }

    private static void send(HttpExchange exchange, int status, String type, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, body.length);
        try (var out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
