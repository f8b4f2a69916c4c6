package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.http.ClientAddresses;
import dev.cay.http.Exchange;
import dev.cay.http.HttpListeners;
import dev.cay.metrics.Meters;
import dev.cay.proxy.LastHop;
import dev.cay.proxy.WithheldHeaders;
import dev.cay.server.audit.AuditLog;
import dev.cay.server.build.BuildService;
import dev.cay.server.log.OtlpSettings;
import dev.cay.server.people.PersonAccess;
import dev.cay.server.quota.Limits;
import dev.cay.server.store.Store;
import dev.cay.server.store.sqlite.TestStore;
import dev.cay.server.template.Origin;
import dev.cay.server.webhook.Webhooks;
import dev.cay.testing.Await;
import dev.cay.tls.LocalAuthority;
import dev.cay.wire.SandboxAddress;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Durability;
import dev.cay.wire.node.NodeDashboard;
import dev.cay.wire.node.Resources;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The real server behind real HTTP on a loopback port, with a node in memory and a clock of the test's own.
final class TestServer implements AutoCloseable {
    static {
        // Host names of sandboxes are the point of many tests, and they need no DNS this way.
        System.setProperty("jdk.httpclient.allowRestrictedHeaders", "host");
    }

    static final String DOMAIN = "cay.test:8443";
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final PersonAccess.Settings LINKS_ONLY =
            new PersonAccess.Settings(URI.create("http://cay.test:3000"), null, List.of());
    /// Headers of requests that may be for a sandbox, and not for the API.
    private static final Set<String> OF_SANDBOXES =
            Set.of("host", "e2b-sandbox-id", "e2b-sandbox-port", "x-access-token");

    /// The same for all servers of this process.
    private static volatile @Nullable DescribedApi description;

    private static final JsonMapper JSON = JsonMapper.shared();

    record Answer(int status, String text, HttpHeaders headers) {
        JsonNode json() {
            return JSON.readTree(text);
        }

        String message() {
            return json().get("message").stringValue();
        }

        @Nullable
        String header(String name) {
            return headers.firstValue(name).orElse(null);
        }
    }

    final FakeNode node;
    final FakeTemplates made = new FakeTemplates();
    final FakeBuilds builds = new FakeBuilds();
    final FakeDisk disk = new FakeDisk();
    final FakeAuthorizations authorizations = new FakeAuthorizations();
    final FakeClock clock;
    final CayServer server;
    /// Requests that got through to a sandbox.
    final AtomicInteger reached = new AtomicInteger();

    final RepeatingStore store;
    final String key;
    final String adminToken;
    /// Which reverse proxies the operator trusts.
    volatile ClientAddresses proxies = ClientAddresses.PEERS;

    /// How far the files of the dashboard are.
    volatile NodeDashboard.State dashboard = new NodeDashboard.State.Building("fetching packages");

    private final HttpListeners listeners = new HttpListeners((peer, forwarded) -> proxies.client(peer, forwarded));
    private final InetSocketAddress address;
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    static TestServer start(Path directory) throws IOException {
        return new TestServer(
                directory, new FakeNode(), new FakeClock(), "", Duration.ofDays(30), PATIENCE, store -> {});
    }

    /// With records in another store, which the server closes.
    static TestServer on(Store store, Path directory, FakeNode node, FakeClock clock, String oldKey)
            throws IOException {
        return new TestServer(
                store, directory, node, clock, oldKey, Duration.ofDays(30), PATIENCE, OtlpSettings.NONE, LINKS_ONLY);
    }

    /// With lines of logs sent to a receiver.
    static TestServer shipping(Path directory, OtlpSettings otlp) throws IOException {
        return fresh(directory, otlp, LINKS_ONLY);
    }

    /// One that people sign in to as these settings say.
    static TestServer forPeople(Path directory, PersonAccess.Settings people) throws IOException {
        return fresh(directory, OtlpSettings.NONE, people);
    }

    private static TestServer fresh(Path directory, OtlpSettings otlp, PersonAccess.Settings people)
            throws IOException {
        return new TestServer(
                prepared(directory, store -> {}),
                directory,
                new FakeNode(),
                new FakeClock(),
                "",
                Duration.ofDays(30),
                PATIENCE,
                otlp,
                people);
    }

    /// Another run of the server on the same files and node.
    static TestServer again(Path directory, TestServer before) throws IOException {
        return again(directory, before, store -> {});
    }

    /// The same, after something else wrote to the database.
    static TestServer again(Path directory, TestServer before, Consumer<Store> prepare) throws IOException {
        return new TestServer(directory, before.node, before.clock, before.key, Duration.ofDays(30), PATIENCE, prepare);
    }

    /// The same, with no patience for what somebody else does.
    static TestServer impatient(Path directory, TestServer before) throws IOException {
        return new TestServer(
                directory,
                before.node,
                before.clock,
                before.key,
                Duration.ofDays(30),
                Duration.ofMillis(100),
                store -> {});
    }

    /// The same, and paused sandboxes are never killed.
    static TestServer keepingForEver(Path directory, TestServer before) throws IOException {
        return new TestServer(directory, before.node, before.clock, before.key, null, PATIENCE, store -> {});
    }

    private TestServer(
            Path directory,
            FakeNode node,
            FakeClock clock,
            String oldKey,
            @Nullable Duration keepPaused,
            Duration patience,
            Consumer<Store> prepare)
            throws IOException {
        this(
                prepared(directory, prepare),
                directory,
                node,
                clock,
                oldKey,
                keepPaused,
                patience,
                OtlpSettings.NONE,
                LINKS_ONLY);
    }

    private static Store prepared(Path directory, Consumer<Store> prepare) {
        var file = TestStore.open(directory.resolve("cay.db"));
        prepare.accept(file);
        return file;
    }

    private TestServer(
            Store opened,
            Path directory,
            FakeNode node,
            FakeClock clock,
            String oldKey,
            @Nullable Duration keepPaused,
            Duration patience,
            OtlpSettings otlp,
            PersonAccess.Settings people)
            throws IOException {
        this.node = node;
        this.clock = clock;
        store = new RepeatingStore(opened);
        disk.volumes = node.volumes;
        server = new CayServer(
                settings(directory, keepPaused, patience, otlp, people),
                store,
                new AttachedNode(node, made, builds, disk, authorizations, () -> dashboard, this::answerAsASandbox),
                clock,
                new Meters());
        server.start();
        server.templates()
                .register(
                        "base",
                        new Resources(2, 512, 10240),
                        new Origin(List.of("layer1", "layer0"), "user", null),
                        null);
        key = server.firstKey().orElse(oldKey);
        adminToken = Files.readString(directory.resolve("admin.token")).strip();
        listeners.start();
        address = listeners.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), server.frontDoor());
    }

    private static ServerSettings settings(
            Path directory,
            @Nullable Duration keepPaused,
            Duration patience,
            OtlpSettings otlp,
            PersonAccess.Settings people) {
        var builds = new BuildService.Settings(
                new Resources(2, 1024, 10240),
                8192,
                () -> 20480,
                3,
                1 << 20,
                List.of("debian:*=base"),
                directory.resolve("builds"));
        return new ServerSettings(
                DOMAIN,
                new ServerSettings.Files(
                        directory.resolve("secret"), directory.resolve("admin.token"), directory.resolve("records")),
                new ServerSettings.Teams(Limits.NONE, people),
                new ServerSettings.Sandboxes(
                        Duration.ofMinutes(5),
                        Duration.ofHours(24),
                        keepPaused,
                        Durability.FROZEN,
                        patience,
                        List.of("10.7.7.7:1080")),
                new ServerSettings.Templates(builds, Duration.ofDays(30)),
                new ServerSettings.Observation(
                        Duration.ofMillis(50),
                        AuditLog.Settings.USUAL,
                        otlp,
                        new Webhooks.Settings(List.of("127.0.0.1"), Duration.ofSeconds(2), Duration.ofMillis(20))));
    }

    private void answerAsASandbox(SandboxAddress target, Exchange exchange) throws IOException {
        reached.incrementAndGet();
        exchange.sendJson(
                200,
                Map.of(
                        "sandbox", target.sandbox().value(),
                        "port", target.port(),
                        "body", exchange.body().readAllBytes().length,
                        "host", String.valueOf(exchange.upstreamHost()),
                        "asked", exchange.authority(),
                        "origin", String.valueOf(exchange.header("Origin")),
                        "tls", LastHop.usesTls(exchange),
                        "set", LastHop.headers(exchange),
                        "withheld", WithheldHeaders.of(exchange)));
    }

    /// A call of the API with the right key.
    Answer call(String method, String path, String... bodyAndHeaders) {
        var headers = new LinkedHashMap<String, String>();
        headers.put("X-API-Key", key);
        String body = bodyAndHeaders.length > 0 ? bodyAndHeaders[0] : "";
        for (int i = 1; i < bodyAndHeaders.length; i += 2) {
            headers.put(bodyAndHeaders[i], bodyAndHeaders[i + 1]);
        }
        return send(address, method, path, body, headers);
    }

    /// A call of the operator.
    Answer admin(String method, String path, String body) {
        return send(address, method, path, body, Map.of("X-Admin-Token", adminToken));
    }

    /// The same with a body.
    Answer request(String method, String path, Map<String, String> headers, String body) {
        return send(address, method, path, body, headers);
    }

    /// A request with just these headers.
    Answer request(String method, String path, Map<String, String> headers) {
        return send(address, method, path, "", headers);
    }

    /// A connection that nothing was sent on yet.
    Socket connect() throws IOException {
        var socket = new Socket(address.getAddress(), address.getPort());
        socket.setSoTimeout(30_000);
        return socket;
    }

    /// The same, from inside a sandbox.
    Answer requestFromInside(SandboxId inside, String path, Map<String, String> headers) throws Exception {
        var socket = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        var inner = (InetSocketAddress) socket.getLocalAddress();
        try (var _ = listeners.adopt(socket, inside, server.frontDoor())) {
            return send(inner, "GET", path, "", headers);
        }
    }

    /// The same by TLS.
    ///
    /// @param directory for the certificate
    Answer requestFromInsideByTls(SandboxId inside, Path directory, String path, Map<String, String> headers)
            throws Exception {
        var authority = LocalAuthority.open(directory.resolve("inner"), "cay.test");
        var socket = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        var inner = (InetSocketAddress) socket.getLocalAddress();
        try (var _ = listeners.adoptTls(socket, inside, authority.tls(), server.frontDoor());
                var secure = HttpClient.newBuilder()
                        .version(HttpClient.Version.HTTP_1_1)
                        .sslContext(authority.trusting())
                        .build()) {
            return send(secure, "https", inner, "GET", path, "", headers);
        }
    }

    JsonNode create(String body) {
        var answer = call("POST", "/v2/sandboxes", body);
        if (answer.status() != 201) {
            throw new AssertionError("create answered " + answer);
        }
        return answer.json();
    }

    /// For comparisons.
    JsonNode json(String text) {
        return JSON.readTree(text);
    }

    /// A new sandbox of the simplest kind.
    String create() {
        return create("{\"templateID\":\"base\"}").get("sandboxID").stringValue();
    }

    /// A key of a new team.
    String keyOfAnotherTeam() {
        var team = admin("POST", "/admin/teams", "{\"name\": \"other\"}");
        String path =
                "/admin/teams/%s/api-keys".formatted(team.json().get("teamID").stringValue());
        return admin("POST", path, "{\"name\": \"k\"}").json().get("key").stringValue();
    }

    static void await(String what, BooleanSupplier condition) {
        Await.until(what, condition::getAsBoolean);
    }

    private Answer send(InetSocketAddress to, String method, String path, String body, Map<String, String> headers) {
        var answer = send(client, "http", to, method, path, body, headers);
        if (to.equals(address) && Collections.disjoint(lowerCase(headers.keySet()), OF_SANDBOXES)) {
            // The dashboard passes calls of its pages on.
            String route = path.replaceFirst("^/dashboard/api/", "/");
            var call = new DescribedApi.Call(
                    method, route, body, answer.status(), answer.header("Content-Type"), answer.text());
            assertThat(described().problems(call))
                    .as("what differs from the description of the API")
                    .isEmpty();
        }
        return answer;
    }

    private static Set<String> lowerCase(Set<String> names) {
        return names.stream().map(name -> name.toLowerCase(Locale.ROOT)).collect(Collectors.toSet());
    }

    /// The description of the API, as this server sends it.
    DescribedApi described() {
        var known = description;
        if (known == null) {
            var answer = send(client, "http", address, "GET", "/openapi.json", "", Map.of());
            known = new DescribedApi(answer.text());
            description = known;
        }
        return known;
    }

    private static Answer send(
            HttpClient client,
            String scheme,
            InetSocketAddress to,
            String method,
            String path,
            String body,
            Map<String, String> headers) {
        var request = HttpRequest.newBuilder(
                        URI.create("%s://%s:%d%s".formatted(scheme, to.getHostString(), to.getPort(), path)))
                .timeout(Duration.ofSeconds(30))
                .method(
                        method,
                        body.isEmpty()
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofString(body));
        headers.forEach(request::header);
        try {
            var response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            return new Answer(response.statusCode(), response.body(), response.headers());
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(method + " " + path, e);
        }
    }

    @Override
    public void close() {
        client.close();
        listeners.close();
        server.close();
        store.close();
    }
}
