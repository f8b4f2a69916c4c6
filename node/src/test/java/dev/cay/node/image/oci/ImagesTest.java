package dev.cay.node.image.oci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.image.LayerStore;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.OwnRegistry;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Images of a real registry. Needs root, as layers are unpacked.
@NeedsRoot
final class ImagesTest {
    private static final RegistryCredentials TESTER =
            new RegistryCredentials.Password(OwnRegistry.USER, OwnRegistry.PASSWORD);

    @TempDir
    private static Path shared;

    private static OwnRegistry open;
    private static OwnRegistry closed;

    @TempDir
    private Path directory;

    private LayerStore layers;

    @BeforeAll
    static void startRegistries() throws Exception {
        open = OwnRegistry.start(shared.resolve("open"), false);
        closed = OwnRegistry.start(shared.resolve("closed"), true);
    }

    @AfterAll
    static void stopRegistries() {
        open.close();
        closed.close();
    }

    @BeforeEach
    void makeStore() {
        layers = new LayerStore(directory.resolve("cache"));
    }

    @Test
    void pullsAnImageWithItsConfiguration() throws Exception {
        var image = new TestImage()
                .layer(new TestTar().file("base", "1").file("gone", "1"))
                .layer(new TestTar().file("top", "2").file(".wh.gone", ""))
                .set("Env", List.of("B=2", "A=1=1", "EMPTY="))
                .set("User", "app:users")
                .set("WorkingDir", "/srv")
                .set("Entrypoint", List.of("/bin/start"))
                .set("Cmd", List.of("--port", "80"))
                .set("ExposedPorts", Map.of("8080/tcp", Map.of()))
                .set("Labels", Map.of("who", "me"))
                .set("Healthcheck", Map.of("Test", List.of("CMD", "true"), "Interval", 5_000_000_000L, "Retries", 3));
        push("plain", "v1", image);

        var pulled = pull(open.host() + "/plain:v1", RegistryCredentials.none());

        assertThat(pulled.digest()).isEqualTo(Digest.of(image.manifest()));
        assertThat(pulled.layerKeys()).hasSize(2);
        assertThat(layers.require(pulled.layerKeys().getFirst()).resolve("top")).hasContent("2");
        assertThat(layers.require(pulled.layerKeys().getLast()).resolve("base")).hasContent("1");
        assertThat(pulled.layerKeys().getLast())
                .isEqualTo("oci1-" + image.diffIds.getFirst().hex());
        assertThat(pulled.config().environment())
                .containsExactly(Map.entry("B", "2"), Map.entry("A", "1=1"), Map.entry("EMPTY", ""));
        assertThat(pulled.config())
                .isEqualTo(new ImageConfig(
                        Map.of("A", "1=1", "B", "2", "EMPTY", ""),
                        "app:users",
                        "/srv",
                        List.of("/bin/start"),
                        List.of("--port", "80"),
                        List.of("8080/tcp"),
                        Map.of("who", "me"),
                        new ImageConfig.Healthcheck(
                                List.of("CMD", "true"), Duration.ofSeconds(5), Duration.ZERO, Duration.ZERO, 3),
                        Platform.ofHost().architecture()));
        assertThat(directory.resolve("cache/images/staging")).isEmptyDirectory();
    }

    @Test
    void fetchesOnlyTheManifestOfAnImageThatIsHere() throws Exception {
        push("twice", "v1", new TestImage().layer(new TestTar().file("a", "twice")));
        var first = pull(open.host() + "/twice:v1", RegistryCredentials.none());
        int before = open.requests().size();

        assertThat(pull(open.host() + "/twice:v1", RegistryCredentials.none())).isEqualTo(first);

        assertThat(open.requests().subList(before, open.requests().size()))
                .singleElement()
                .asString()
                .contains("GET /v2/twice/manifests/v1");
    }

    @Test
    void fetchesOnlyLayersThatAreNotHere() throws Exception {
        var base = new TestTar().file("base", "shared");
        push("shared", "a", new TestImage().layer(base).layer(new TestTar().file("a", "a")));
        push("shared", "b", new TestImage().layer(base).layer(new TestTar().file("b", "b")));
        var one = pull(open.host() + "/shared:a", RegistryCredentials.none());
        int before = open.requests().size();

        var other = pull(open.host() + "/shared:b", RegistryCredentials.none());

        assertThat(other.layerKeys().getLast()).isEqualTo(one.layerKeys().getLast());
        assertThat(open.requests().subList(before, open.requests().size())).hasSize(3);
    }

    @Test
    void readsManifestsOfDockerAndLayersInZstd() throws Exception {
        var docker = new TestImage().layer(new TestTar().file("a", "docker"));
        docker.mediaType = Manifests.DOCKER_MANIFEST;
        push("docker", "v1", docker);
        byte[] tar = new TestTar().file("a", "zstd").tar();
        push("zstd", "v1", new TestImage().layer(tar, TestTar.zstd(tar)));

        assertThat(file(pull(open.host() + "/docker:v1", RegistryCredentials.none()), "a"))
                .hasContent("docker");
        assertThat(file(pull(open.host() + "/zstd:v1", RegistryCredentials.none()), "a"))
                .hasContent("zstd");
    }

    @Test
    void choosesTheImageForThisMachine() throws Exception {
        var mine = Platform.ofHost();
        var images = new LinkedHashMap<String, TestImage>();
        for (String platform : List.of("s390x", mine.architecture() + "/v99", mine.architecture(), "arm/v7")) {
            var image = new TestImage().layer(new TestTar().file("a", platform));
            image.architecture = platform.split("/")[0];
            images.put(platform, image);
            push("many", platform.replace('/', '-'), image);
        }
        pushManifest("many", "all", Manifests.OCI_INDEX, TestImage.index(images));
        images.remove(mine.architecture());
        pushManifest("many", "others", Manifests.OCI_INDEX, TestImage.index(images));

        assertThat(file(pull(open.host() + "/many:all", RegistryCredentials.none()), "a"))
                .hasContent(mine.architecture());
        refuses(
                open.host() + "/many:others",
                RegistryCredentials.none(),
                ErrorKind.FAILED,
                "it is for \"linux/s390x, ");
        refuses(open.host() + "/many:s390x", RegistryCredentials.none(), ErrorKind.FAILED, "it is for \"linux/s390x\"");
    }

    @Test
    void pullsByDigest() throws Exception {
        var image = new TestImage().layer(new TestTar().file("a", "digest"));
        push("digest", "v1", image);

        var pulled = pull(open.host() + "/digest@" + Digest.of(image.manifest()), RegistryCredentials.none());

        assertThat(file(pulled, "a")).hasContent("digest");
    }

    @Test
    void showsAPasswordToARegistryThatAsks() throws Exception {
        var image = new TestImage().layer(new TestTar().file("a", "secret"));
        try (var push = new TestPush(closed.host(), RegistryAuth.basic(OwnRegistry.USER, OwnRegistry.PASSWORD))) {
            push.image("team/private", "v1", image);
        }
        String name = closed.host() + "/team/private:v1";

        refuses(name, RegistryCredentials.none(), ErrorKind.PERMISSION_DENIED, "wants credentials");
        refuses(
                name,
                new RegistryCredentials.Password("tester", "wrong!"),
                ErrorKind.PERMISSION_DENIED,
                "refuses the credentials");
        assertThatThrownBy(() -> pull(name, new RegistryCredentials.Password("tester", "wrong!")))
                .message()
                .doesNotContain("wrong!");
        assertThat(file(pull(name, TESTER), "a")).hasContent("secret");
    }

    @Test
    void asksMirrorsFirst() throws Exception {
        push("mirrored/app", "v1", new TestImage().layer(new TestTar().file("a", "mirror")));
        var settings = settings()
                .withMirrors(Map.of(
                        "images.invalid",
                        List.of(URI.create("http://127.0.0.1:1"), URI.create("http://" + open.host()))));

        try (var images = images(settings)) {
            var pulled = images.pull(ImageReference.parse("images.invalid/mirrored/app:v1"), TESTER, (_, _, _) -> {});
            assertThat(file(pulled, "a")).hasContent("mirror");
        }
        assertThat(open.requests()).noneMatch(line -> line.contains(OwnRegistry.USER));
    }

    @Test
    void saysWhatIsNotThere() throws Exception {
        push("there", "v1", new TestImage().layer(new TestTar().file("a", "there")));

        refuses(open.host() + "/there:v2", RegistryCredentials.none(), ErrorKind.NOT_FOUND, "no image there:v2");
        refuses(open.host() + "/nowhere", RegistryCredentials.none(), ErrorKind.NOT_FOUND, "no image nowhere:latest");
        refuses("127.0.0.1:1/app", RegistryCredentials.none(), ErrorKind.UNAVAILABLE, "cannot be reached");
        refuses(
                "127.0.0.1:1/app",
                RegistryCredentials.none(),
                ErrorKind.UNAVAILABLE,
                "there is no connection to 127.0.0.1:1");
    }

    @Test
    void pullsAnImageWithManyLayersAndTellsHowFarItIs() throws Exception {
        var image = new TestImage();
        for (int i = 0; i < 127; i++) {
            image.layer(new TestTar().file("dir/" + i, "x" + i));
        }
        push("tall", "v1", image);
        var last = new double[1];

        try (var images = images(settings())) {
            var pulled = images.pull(
                    ImageReference.parse(open.host() + "/tall:v1"),
                    RegistryCredentials.none(),
                    (_, _, fraction) -> last[0] = Math.max(last[0], fraction));
            assertThat(pulled.layerKeys()).hasSize(127).doesNotHaveDuplicates();
            assertThat(file(pulled, "dir/126")).hasContent("x126");
        }
        assertThat(last[0]).isEqualTo(1);
    }

    @Test
    void goesOnWhereItWasWhenTheRegistryDies() throws Exception {
        byte[] random = new byte[16 << 20];
        new Random(1).nextBytes(random);
        var tar = new TestTar().add(TestTar.Header.of("random", '0'), random).tar();
        var image = new TestImage().layer(tar, tar).layer(new TestTar().file("a", "after"));
        try (var registry = OwnRegistry.start(directory.resolve("dying"), false);
                var push = new TestPush(registry.host(), "");
                var threads = Executors.newSingleThreadExecutor();
                var images = images(settings().withPlainHttp(Set.of(registry.host())))) {
            push.image("big", "v1", image);
            var begun = new CountDownLatch(1);
            var dead = new CountDownLatch(1);

            var pulling = threads.submit(() -> images.pull(
                    ImageReference.parse(registry.host() + "/big:v1"),
                    RegistryCredentials.none(),
                    (step, _, fraction) -> {
                        if (step.equals("pulling") && fraction < 0.5) {
                            begun.countDown();
                            Await.until("the registry is dead", dead);
                        }
                    }));
            Await.until("the pull begins", begun);
            registry.kill();
            dead.countDown();
            registry.start();
            var pulled = pulling.get(120, TimeUnit.SECONDS);

            assertThat(file(pulled, "a")).hasContent("after");
            var lowest = layers.require(pulled.layerKeys().getLast()).resolve("random");
            assertThat(Files.mismatch(lowest, Files.write(directory.resolve("random"), random)))
                    .isEqualTo(-1);
            assertThat(registry.requests())
                    .anyMatch(line -> line.contains(Digest.of(tar).hex()) && line.contains(" 206 "));
        }
    }

    private static void push(String repository, String tag, TestImage image) throws Exception {
        try (var push = new TestPush(open.host(), "")) {
            push.image(repository, tag, image);
        }
    }

    private static void pushManifest(String repository, String tag, String type, byte[] bytes) throws Exception {
        try (var push = new TestPush(open.host(), "")) {
            push.manifest(repository, tag, type, bytes);
        }
    }

    private static RegistrySettings settings() {
        return TestLimits.of(
                RegistrySettings.DEFAULT.withPlainHttp(Set.of(open.host(), closed.host(), "127.0.0.1:1")),
                Duration.ofSeconds(20),
                Duration.ofSeconds(20),
                Duration.ofSeconds(30));
    }

    private Images images(RegistrySettings settings) {
        return new Images(
                layers, directory.resolve("cache"), settings, LayerLimits.DEFAULT, Images.client(settings)::build);
    }

    private PulledImage pull(String name, RegistryCredentials credentials) throws IOException {
        try (var images = images(settings())) {
            return images.pull(ImageReference.parse(name), credentials, (_, _, _) -> {});
        }
    }

    private Path file(PulledImage image, String name) {
        return layers.require(image.layerKeys().getFirst()).resolve(name);
    }

    private void refuses(String name, RegistryCredentials credentials, ErrorKind kind, String message) {
        assertThatThrownBy(() -> pull(name, credentials))
                .isInstanceOfSatisfying(
                        CayException.class, e -> assertThat(e.kind()).isEqualTo(kind))
                .hasMessageContaining(message);
    }
}
