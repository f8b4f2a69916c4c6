package dev.cay.node.image.oci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.http.Json;
import dev.cay.node.image.LayerStore;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Registries that lie, break off, redirect or ask for tokens. Needs root, as layers are unpacked.
@NeedsRoot
final class HostileRegistryTest {
    private final TestImage image = new TestImage().layer(new TestTar().file("a", "content".repeat(5000)));

    @TempDir
    private Path directory;

    private LayerStore layers;
    private FakeRegistry registry;
    private FakeRegistry other;
    private RegistrySettings settings;

    @BeforeEach
    void start() throws IOException {
        layers = new LayerStore(directory.resolve("cache"));
        registry = new FakeRegistry().image("app", "v1", image);
        other = new FakeRegistry();
        settings = TestLimits.of(
                RegistrySettings.DEFAULT.withPlainHttp(Set.of(registry.host())),
                Duration.ofSeconds(10),
                Duration.ofSeconds(2),
                Duration.ofSeconds(3));
    }

    @AfterEach
    void stop() {
        registry.close();
        other.close();
    }

    @Test
    void refusesALayerWithOtherBytes() {
        byte[] wrong = image.layers.getFirst().clone();
        wrong[wrong.length - 3] ^= 1;
        registry.on(layerPath(), exchange -> FakeRegistry.send(exchange, 200, wrong));

        refuses("do not have the digest");
        assertThat(layers.has("oci1-" + image.diffIds.getFirst().hex())).isFalse();
    }

    @Test
    void refusesALayerOfAnotherSize() {
        byte[] right = image.layers.getFirst();
        registry.on(layerPath(), exchange -> FakeRegistry.send(exchange, 200, Arrays.copyOf(right, right.length + 5)));
        refuses("and the manifest says");
        registry.on(layerPath(), exchange -> FakeRegistry.send(exchange, 200, Arrays.copyOf(right, right.length - 5)));
        refuses("and the manifest says");
        registry.on(layerPath(), exchange -> {
            exchange.sendResponseHeaders(200, 0); // in pieces, without a length
            exchange.getResponseBody().write(Arrays.copyOf(right, right.length + 5));
        });
        refuses("and the manifest says");
    }

    @Test
    void refusesDocumentsWithOtherBytes() {
        registry.on(
                FakeRegistry.blobPath("app", image.config()),
                exchange -> FakeRegistry.send(exchange, 200, new byte[image.config().length]));
        refuses("do not have the digest");
        String digest = "sha256:" + "0".repeat(64);
        registry.manifest("app", "v1", Manifests.OCI_MANIFEST, image.manifest())
                .on("/v2/app/manifests/" + digest, exchange -> FakeRegistry.send(exchange, 200, image.manifest()));
        assertThatThrownBy(() -> pull("app@" + digest)).hasMessageContaining("do not have the digest");
    }

    @Test
    void refusesLayersThatAreNotWhatTheConfigurationSays() {
        image.diffIds.set(0, Digest.of("something else"));
        registry.image("app", "v1", image);
        refuses("when unpacked, and its configuration says");

        image.diffIds.add(Digest.of("one more"));
        registry.image("app", "v1", image);
        refuses("has 1 layers, and its configuration speaks of 2");
    }

    @Test
    void refusesManifestsThatAreNone() {
        registry.manifest("app", "v1", "application/json", TestTar.bytes("no json"));
        refuses("no JSON");
        registry.manifest("app", "v1", "application/json", Json.write(Map.of("schemaVersion", 1)));
        refuses("not supported");
        registry.manifest("app", "v1", "application/json", new byte[Manifests.LONGEST + 1]);
        refuses("a manifest of more than");
        var odd = Map.of(
                "mediaType", "application/vnd.helm", "digest", Digest.of("").toString(), "size", 5);
        registry.manifest(
                "app", "v1", "x", Json.write(Map.of("schemaVersion", 2, "config", odd, "layers", List.of(odd))));
        refuses("layer of a type that is not supported: \"application/vnd.helm\"");
        var huge = Map.of("mediaType", TestImage.CONFIG, "digest", Digest.of("").toString(), "size", 1L << 40);
        registry.manifest(
                "app", "v1", "x", Json.write(Map.of("schemaVersion", 2, "config", huge, "layers", List.of())));
        refuses("a configuration of 1,099,511,627,776 bytes");
    }

    @Test
    void goesOnWhereAConnectionBroke() {
        byte[] layer = image.layers.getFirst();
        var tries = new AtomicInteger();
        registry.on(layerPath(), exchange -> {
            int from = from(exchange.getRequestHeaders().getFirst("Range"));
            tries.incrementAndGet();
            exchange.getResponseHeaders()
                    .set("Content-Range", "bytes %d-%d/%d".formatted(from, layer.length - 1, layer.length));
            exchange.sendResponseHeaders(from == 0 ? 200 : 206, layer.length - from);
            exchange.getResponseBody().write(layer, from, Math.min(50, layer.length - from));
            exchange.getResponseBody().flush();
        });

        assertThat(file(pull("app:v1"))).hasContent("content".repeat(5000));
        assertThat(tries.get()).isEqualTo((layer.length + 49) / 50);
    }

    @Test
    void goesOnWithARegistryThatAlwaysSendsAll() {
        byte[] layer = image.layers.getFirst();
        var tries = new AtomicInteger();
        registry.on(layerPath(), exchange -> {
            exchange.sendResponseHeaders(200, layer.length);
            exchange.getResponseBody().write(layer, 0, tries.getAndIncrement() == 0 ? 60 : layer.length);
        });

        assertThat(file(pull("app:v1"))).hasContent("content".repeat(5000));
        assertThat(tries.get()).isEqualTo(2);
    }

    @Test
    void givesUpOnARegistryThatNeverSendsMore() {
        byte[] layer = image.layers.getFirst();
        registry.on(layerPath(), exchange -> {
            exchange.sendResponseHeaders(200, layer.length);
            exchange.getResponseBody().write(layer, 0, 40);
            exchange.getResponseBody().flush();
            try {
                Thread.sleep(20_000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });

        refuses("a layer could not be fetched");
        assertThat(directory.resolve("cache/images/staging")).isEmptyDirectory();
    }

    @Test
    void asksForATokenAndForAnotherWhenItEnds() throws Exception {
        var tokens = new AtomicInteger();
        String basic = RegistryAuth.basic("me", "my password");
        other.on("/token", exchange -> {
            boolean known = basic.equals(exchange.getRequestHeaders().getFirst("Authorization"));
            byte[] answer = Json.write(Map.of("token", "token" + tokens.incrementAndGet()));
            FakeRegistry.send(exchange, known ? 200 : 401, known ? answer : new byte[0]);
        });
        guard("token1", "/v2/app/manifests/v1");
        guard("token2", layerPath());
        guard("token2", FakeRegistry.blobPath("app", image.config()));

        assertThat(file(pull("app:v1", new RegistryCredentials.Password("me", "my password"))))
                .exists();
        assertThat(other.requests)
                .allMatch(uri -> uri.equals("/token?a=b&service=the+service&scope=repository%3Aapp%3Apull"));
        assertThatThrownBy(() -> pull("app:v1", new RegistryCredentials.Password("me", "not mine")))
                .hasMessageContaining("refuses the credentials")
                .message()
                .doesNotContain("not mine");
        assertThatThrownBy(() -> pull("app:v1", RegistryCredentials.none())).hasMessageContaining("wants credentials");
    }

    /// Only a request with the token is answered.
    private void guard(String token, String path) {
        byte[] right = path.contains("manifests")
                ? image.manifest()
                : path.equals(layerPath()) ? image.layers.getFirst() : image.config();
        registry.on(path, exchange -> {
            boolean known =
                    ("Bearer " + token).equals(exchange.getRequestHeaders().getFirst("Authorization"));
            exchange.getResponseHeaders()
                    .set(
                            "WWW-Authenticate",
                            "Bearer realm=\"http://%s/token?a=b\",service=\"the service\"".formatted(other.host()));
            FakeRegistry.send(exchange, known ? 200 : 401, known ? right : new byte[0]);
        });
    }

    @Test
    void keepsCredentialsFromHostsItIsRedirectedTo() {
        String basic = RegistryAuth.basic("me", "my password");
        other.blob("elsewhere", image.layers.getFirst());
        registry.on(layerPath(), exchange -> {
            boolean known = basic.equals(exchange.getRequestHeaders().getFirst("Authorization"));
            exchange.getResponseHeaders().set("WWW-Authenticate", "Basic realm=\"x\"");
            exchange.getResponseHeaders()
                    .set(
                            "Location",
                            "http://" + other.host() + FakeRegistry.blobPath("elsewhere", image.layers.getFirst()));
            FakeRegistry.send(exchange, known ? 307 : 401, new byte[0]);
        });

        assertThat(file(pull("app:v1", new RegistryCredentials.Password("me", "my password"))))
                .exists();
        assertThat(other.authorizations).hasSize(1).allMatch(line -> line.endsWith(" null"));
    }

    @Test
    void followsFewRedirectsAndNoneToOtherProtocols() {
        registry.on("/v2/app/manifests/v1", exchange -> {
            exchange.getResponseHeaders().set("Location", "/v2/app/manifests/v1");
            FakeRegistry.send(exchange, 302, new byte[0]);
        });
        refuses("redirects more than 5 times");
        for (String place : List.of("file:///etc/passwd", "ftp://127.0.0.1/x", "http://me@127.0.0.1/", "http://:::/")) {
            registry.on("/v2/app/manifests/v1", exchange -> {
                exchange.getResponseHeaders().set("Location", place);
                FakeRegistry.send(exchange, 302, new byte[0]);
            });
            assertThatThrownBy(() -> pull("app:v1")).as(place).isInstanceOf(CayException.class);
        }
    }

    @Test
    void neverLeavesTlsAndNeverGoesToThisHostForAnother() throws Exception {
        try (var http = new RegistryHttp(Images.client(settings)::build, settings)) {
            // Addresses of documentation: they are looked at, not connected to.
            var origin = URI.create("https://192.0.2.1/");
            for (String place :
                    List.of("http://192.0.2.2/", "https://127.0.0.1/", "https://169.254.169.254/", "https://[::1]/")) {
                assertThatThrownBy(() -> http.requireAllowed(URI.create(place), origin))
                        .as(place)
                        .isInstanceOf(CayException.class);
            }
            assertThat(http.requireAllowed(URI.create("https://192.0.2.2/x"), origin))
                    .hasPath("/x");
        }
    }

    @Test
    void refusesRegistriesOnThisHostThatNoOperatorAllowed() {
        for (String name : List.of(other.host() + "/app", "localhost/app", "[::1]/app", "0.0.0.0/app")) {
            try (var images = images()) {
                assertThatThrownBy(() ->
                                images.pull(ImageReference.parse(name), RegistryCredentials.none(), (_, _, _) -> {}))
                        .as(name)
                        .isInstanceOf(CayException.class)
                        .hasMessageContaining("not at a public address");
            }
        }
        assertThat(other.requests).isEmpty();
    }

    @Test
    void exchangesKeysOfAws() throws Exception {
        other.on("/", exchange -> {
            String signature = exchange.getRequestHeaders().getFirst("Authorization");
            boolean signed = signature.matches(
                    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\\d{8}/eu-west-1/ecr/aws4_request, "
                            + "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target, Signature=[0-9a-f]{64}");
            String token = Base64.getEncoder().encodeToString("AWS:pass".getBytes(StandardCharsets.UTF_8));
            FakeRegistry.send(
                    exchange,
                    signed ? 200 : 400,
                    Json.write(Map.of("authorizationData", List.of(Map.of("authorizationToken", token)))));
        });
        registry.on("/v2/app/manifests/v1", exchange -> {
            boolean known = RegistryAuth.basic("AWS", "pass")
                    .equals(exchange.getRequestHeaders().getFirst("Authorization"));
            exchange.getResponseHeaders().set("WWW-Authenticate", "Basic realm=\"x\"");
            FakeRegistry.send(exchange, known ? 200 : 401, image.manifest());
        });

        var keys = new RegistryCredentials.Aws(
                "AKIDEXAMPLE", "hidden", "session", "eu-west-1", URI.create("http://" + other.host()));
        assertThat(file(pull("app:v1", keys))).exists();
        assertThat(keys.toString()).doesNotContain("hidden").doesNotContain("session");
    }

    @Test
    void showsTheKeyOfAServiceAccountOfGoogle() throws Exception {
        registry.on("/v2/app/manifests/v1", exchange -> {
            boolean known = RegistryAuth.basic("_json_key", "{\"key\": 1}")
                    .equals(exchange.getRequestHeaders().getFirst("Authorization"));
            exchange.getResponseHeaders().set("WWW-Authenticate", "Basic realm=\"x\"");
            FakeRegistry.send(exchange, known ? 200 : 401, image.manifest());
        });

        assertThat(file(pull("app:v1", new RegistryCredentials.Gcp("{\"key\": 1}"))))
                .exists();
    }

    private static int from(String range) {
        return range == null ? 0 : Integer.parseInt(range.replaceAll("bytes=(\\d+)-", "$1"));
    }

    private String layerPath() {
        return FakeRegistry.blobPath("app", image.layers.getFirst());
    }

    private Path file(PulledImage pulled) {
        return layers.require(pulled.layerKeys().getFirst()).resolve("a");
    }

    private Images images() {
        return new Images(
                layers, directory.resolve("cache"), settings, LayerLimits.DEFAULT, Images.client(settings)::build);
    }

    private PulledImage pull(String name) {
        return pull(name, RegistryCredentials.none());
    }

    private PulledImage pull(String name, RegistryCredentials credentials) {
        try (var images = images()) {
            return images.pull(ImageReference.parse(registry.host() + "/" + name), credentials, (_, _, _) -> {});
        }
    }

    private void refuses(String reason) {
        assertThatThrownBy(() -> pull("app:v1"))
                .isInstanceOf(CayException.class)
                .hasMessageContaining(reason);
    }
}
