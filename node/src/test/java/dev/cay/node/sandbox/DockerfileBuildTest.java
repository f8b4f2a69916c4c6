package dev.cay.node.sandbox;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.cay.dockerfile.TarWriter;
import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.Programs;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.LayerView;
import dev.cay.node.image.oci.ImageReference;
import dev.cay.node.image.oci.Images;
import dev.cay.node.image.oci.LayerLimits;
import dev.cay.node.image.oci.RegistryCredentials;
import dev.cay.node.image.oci.RegistrySettings;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.OwnRegistry;
import dev.cay.wire.BuildId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.BuildLine;
import dev.cay.wire.node.BuildPlan;
import dev.cay.wire.node.BuildResult;
import dev.cay.wire.node.NodeBuilds;
import dev.cay.wire.node.RegistryLogin;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.TemplateImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Dockerfiles built in real sandboxes; needs root.
@Timeout(240)
@NeedsRoot
class DockerfileBuildTest {
    private static final TeamId TEAM = new TeamId("builders");
    private static final String HASH = "0123456789abcdef".repeat(4);

    private static TestNode.Place place;
    private static TestNode node;
    private static OwnRegistry registry;

    /// A server at an address that is open to builds.
    private static HttpServer files;

    @BeforeAll
    static void open() throws Exception {
        place = TestNode.Place.make();
        registry = OwnRegistry.start(place.directory().resolve("registry"), true);
        files = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        files.start();
        var usual = NetworkLimits.DEFAULT;
        var limits = new NetworkLimits(
                usual.connections(), usual.megabits(), usual.nodePorts(), List.of("127.0.0.1:" + port(files)));
        node = new TestNode(place, limits, registries());
        var tar = new ByteArrayOutputStream();
        writeContext(tar);
        node.node.builds().putFiles(TEAM, HASH, new ByteArrayInputStream(tar.toByteArray()), tar.size());
    }

    private static RegistrySettings registries() {
        return RegistrySettings.DEFAULT.withPlainHttp(Set.of(registry.host()));
    }

    @AfterAll
    static void close() throws Exception {
        node.close();
        registry.close();
        files.stop(0);
        place.close();
    }

    private static void writeContext(ByteArrayOutputStream out) throws IOException {
        var tar = new TarWriter(out);
        var inner = new ByteArrayOutputStream();
        var archive = new TarWriter(inner);
        file(archive, "inside/of.txt", 0640, 7, "archived");
        archive.finish();
        for (var each :
                new TreeMap<>(Map.of("a.txt", "a", "b.txt", "b", "dir/one", "1", "dir/sub/two", "2")).entrySet()) {
            file(tar, each.getKey(), 0644, 0, each.getValue());
        }
        file(tar, "run.sh", 0755, 0, "#!/bin/sh\necho script\n");
        byte[] packed = inner.toByteArray();
        tar.file(new TarWriter.Header("packed.tar", 0644, 0, 0, 1), packed.length, new ByteArrayInputStream(packed));
        tar.finish();
    }

    private static void file(TarWriter tar, String name, int mode, int uid, String content) throws IOException {
        byte[] bytes = content.getBytes(UTF_8);
        tar.file(new TarWriter.Header(name, mode, uid, uid, 1), bytes.length, new ByteArrayInputStream(bytes));
    }

    @Test
    void laterStagesTakeFilesOfEarlierOnes() throws Exception {
        var built = build("""
                ARG WORD=outside
                FROM base AS maker
                ARG WORD
                ENV GREETING="hello $WORD"
                WORKDIR /srv/deep
                RUN echo "$GREETING" > greeting && ln -s /srv/deep/greeting /link
                RUN ["/bin/sh", "-c", "pwd > exec; id -u >> exec"]
                FROM base AS unused
                RUN exit 9
                FROM base
                COPY --from=maker /link /out/
                COPY --from=maker --chown=1000:1001 --chmod=600 /srv/deep/ex* /out/exec
                USER user
                WORKDIR /home/user/app
                RUN id -un > who; pwd >> who
                CMD ["bash"]
                """);
        built.requireReady();
        assertThat(built.read("out/link")).isEqualTo("hello outside\n");
        assertThat(built.read("out/exec")).isEqualTo("/srv/deep\n0\n");
        assertThat(built.attribute("out/exec", "mode")).isEqualTo(0100600);
        assertThat(built.attribute("out/exec", "gid")).isEqualTo(1001);
        assertThat(built.read("home/user/app/who")).isEqualTo("user\n/home/user/app\n");
        assertThat(built.text()).doesNotContain("exit 9").contains("[maker 4/5] RUN echo");
        var result = built.require();
        assertThat(result.user()).isEqualTo("user");
        assertThat(result.workdir()).isEqualTo("/home/user/app");
        assertThat(result.start().command()).as("a shell serves nothing").isNull();
    }

    @Test
    void copiesAsDockerDoes() throws Exception {
        var built = build("""
                FROM base
                RUN mkdir -p /real && ln -s /real /linked && echo old > /real/kept
                COPY a.txt /renamed
                COPY a.txt /into/
                COPY a.txt b.txt /several/
                COPY dir /content
                COPY dir /linked
                COPY *.txt /globbed/
                WORKDIR /srv
                COPY a.txt .
                COPY --chmod=u+x,go= --chown=user a.txt /chosen
                COPY <<EOF /inline
                text
                EOF
                ADD packed.tar /unpacked/
                ADD a.txt /added
                """);
        built.requireReady();
        assertThat(built.read("renamed")).isEqualTo("a");
        assertThat(built.read("into/a.txt")).isEqualTo("a");
        assertThat(built.read("several/b.txt")).isEqualTo("b");
        assertThat(built.read("content/sub/two")).isEqualTo("2");
        assertThat(built.read("real/one")).as("through a link").isEqualTo("1");
        assertThat(built.read("real/kept")).isEqualTo("old\n");
        assertThat(built.read("globbed/b.txt")).isEqualTo("b");
        assertThat(built.read("srv/a.txt")).isEqualTo("a");
        assertThat(built.attribute("chosen", "mode")).isEqualTo(0100700);
        assertThat(built.attribute("chosen", "uid")).isEqualTo(1000);
        assertThat(built.read("inline")).isEqualTo("text\n");
        assertThat(built.read("unpacked/inside/of.txt")).isEqualTo("archived");
        assertThat(built.attribute("unpacked/inside/of.txt", "uid")).isEqualTo(7);
        assertThat(built.read("added")).isEqualTo("a");
    }

    @Test
    void aFailureNamesTheLineTheExitAndTheLastWords() throws Exception {
        var built = build("""
                FROM base
                # a comment
                RUN true && \\
                    echo going wrong >&2 && \\
                    exit 3
                """);
        assertThat(built.failure())
                .startsWith("Dockerfile:3: RUN true && echo going wrong >&2 && exit 3: ")
                .contains("exit status 3")
                .endsWith("going wrong");
        assertThat(build("FROM base\nCOPY nothing /x\n").failure())
                .contains("Dockerfile:2:")
                .contains("nothing");
        assertThat(build("FROM base\nCOPY a.txt b.txt /x\n").failure()).contains("need a directory");
        assertThat(build("FROM base\nCOPY --chown=nobody-there a.txt /x\n").failure())
                .contains("no user 'nobody-there'");
        assertThat(build("FROM base\nCOPY --from=base /not/there /x\n").failure())
                .contains("there is no /not/there");
    }

    @Test
    void whatWasDoneBeforeIsNotDoneAgain() throws Exception {
        String text = """
                FROM base
                RUN echo %s > /first
                COPY a.txt /second
                """.formatted(UUID.randomUUID());
        assertThat(build(text).requireReady().text()).doesNotContain("CACHED");
        assertThat(build(text).requireReady().text()).contains("CACHED RUN").contains("CACHED COPY");
        var changed = build(text.replace("/second", "/third")).requireReady();
        assertThat(changed.text()).contains("CACHED RUN").doesNotContain("CACHED COPY");
    }

    @Test
    void aStageWithoutAShellTakesFilesAndRunsItsProgram() throws Exception {
        var built = build("""
                FROM base AS maker
                RUN echo 'int main(void) { for (;;) pause(); }' | gcc -static -include unistd.h -x c -o /program -
                FROM scratch
                COPY --from=maker /program /bin/program
                COPY dir /data/
                WORKDIR /data
                USER 65532
                ENTRYPOINT ["/bin/program"]
                CMD ["an argument"]
                """);
        built.requireReady();
        assertThat(built.require().start().command()).isEqualTo("[\"/bin/program\",\"an argument\"]");
        assertThat(built.read("data/one")).isEqualTo("1");
        assertThat(built.text()).contains("no shell");
        assertThat(built.require().workdir()).isEqualTo("/data");
    }

    @Test
    void mountsAndScriptsLeaveNothing() throws Exception {
        var built = build("""
                FROM base
                RUN --mount=type=cache,target=/var/cache/some echo x > /var/cache/some/x && ls /var/cache/some > /seen
                RUN --mount=type=bind,source=dir,target=/bound cat /bound/sub/two > /two
                RUN <<EOF
                #!/usr/bin/env python3
                open("/by-python", "w").write("written")
                EOF
                USER 1234:4321
                RUN id -u > /tmp/id && id -g >> /tmp/id
                """);
        built.requireReady();
        assertThat(built.read("seen")).isEqualTo("x\n");
        assertThat(built.read("two")).isEqualTo("2");
        assertThat(built.read("by-python")).isEqualTo("written");
        assertThat(built.find("var/cache/some/x")).isNull();
        assertThat(built.find("bound/sub/two")).isNull();
        assertThat(built.find(".cay-run")).isNull();
        assertThat(built.text()).doesNotContain("failed");
        try (var left = Files.newDirectoryStream(place.directory().resolve("cache/layers"), "temporary-*")) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void entrypointAndHealthcheckBecomeStartAndReady() throws Exception {
        var built = build("""
                FROM base
                EXPOSE 8123
                ENV TEXT=x
                ENTRYPOINT ["python3", "-m", "http.server"]
                CMD ["8123"]
                """).requireReady();
        var start = built.require().start();
        assertThat(start.command()).isEqualTo("python3 -m http.server 8123");
        assertThat(start.user()).isEqualTo("root");
        assertThat(start.ready()).contains("8123");
        assertThat(start.environment()).containsEntry("TEXT", "x");
        assertThat(built.text()).contains("Template is ready");
    }

    @Test
    void pullsImagesOfARegistryThatAsksForAPassword() throws Exception {
        Files.writeString(
                Files.createDirectories(place.directory().resolve("cache/layers/tiny/rootfs"))
                        .resolve("tiny.txt"),
                "private");
        String image = registry.host() + "/team/tiny:v1";
        var archive = place.directory().resolve("tiny.tar");
        try (var out = Files.newOutputStream(archive)) {
            node.node.builds().export(new TemplateImage("tiny:v1", List.of("tiny"), "root", null, null), out);
        }
        var settings = registries();
        try (var images = new Images(
                new LayerStore(place.directory().resolve("push")),
                place.directory().resolve("push"),
                settings,
                LayerLimits.DEFAULT,
                () -> Images.client(settings).build())) {
            var tester = new RegistryCredentials.Password(OwnRegistry.USER, OwnRegistry.PASSWORD);
            images.push(archive, ImageReference.parse(image), tester, (_, _, _) -> {});
        }
        String text = "FROM %s AS tiny\nFROM base\nCOPY --from=tiny tiny.txt /copied\n".formatted(image);

        assertThat(build(text).failure())
                .contains("Dockerfile:1: FROM " + image, "wants credentials", "registryLogins");
        var wrong = new RegistryLogin.Password(OwnRegistry.USER, "wrong");
        assertThat(build(text, Map.of(registry.host(), wrong)).failure())
                .contains("Dockerfile:1: FROM " + image, "refuses the credentials");

        var login = new RegistryLogin.Password(OwnRegistry.USER, OwnRegistry.PASSWORD);
        var built = build(text, Map.of(registry.host(), login)).requireReady();
        assertThat(built.read("copied")).isEqualTo("private");
        assertThat(built.text()).doesNotContain(OwnRegistry.PASSWORD);
        var packed = new ByteArrayOutputStream();
        node.node
                .builds()
                .export(new TemplateImage("x:v1", built.require().layers().subList(0, 1), "root", null, null), packed);
        assertThat(packed.toString(ISO_8859_1)).doesNotContain(OwnRegistry.PASSWORD);
        var holders = Programs.ofHost()
                .run(
                        Duration.ofMinutes(2),
                        "grep",
                        "-rslF",
                        "--devices=skip",
                        OwnRegistry.PASSWORD,
                        place.directory().toString());
        assertThat(holders.output()).as("files with the password").isEmpty();
    }

    private static int port(HttpServer server) {
        return server.getAddress().getPort();
    }

    /// @param headers names and values in turn
    private static String serve(HttpServer server, String path, int status, String content, String... headers) {
        server.createContext(path, exchange -> {
            for (int i = 0; i < headers.length; i += 2) {
                exchange.getResponseHeaders().add(headers[i], headers[i + 1]);
            }
            byte[] body = content.getBytes(UTF_8);
            exchange.sendResponseHeaders(status, body.length);
            try (var out = exchange.getResponseBody()) {
                out.write(body);
            }
        });
        return "http://127.0.0.1:%d%s".formatted(port(server), path);
    }

    @Test
    void addsFilesThatAreFetchedByUrls() throws Exception {
        String url = serve(files, "/dir/file.txt", 200, "fetched", "Last-Modified", "Sun, 09 Sep 2001 01:46:40 GMT");
        String moved = serve(files, "/moved", 302, "", "Location", "/dir/file.txt");
        var packed = new ByteArrayOutputStream();
        var archive = new TarWriter(packed);
        file(archive, "inside.txt", 0640, 7, "archived");
        archive.finish();
        String tar = serve(files, "/packed.tar", 200, packed.toString(UTF_8));
        String good = sha256("fetched");
        var built = build("""
                        FROM base
                        ADD --checksum=sha256:%s %s /added/
                        ADD --chown=1000:1000 --chmod=644 %s a.txt /several/
                        ADD %s /kept/
                        ADD --unpack=true %s /unpacked/
                        """.formatted(good, url, moved, tar, tar)).requireReady();
        assertThat(built.read("added/file.txt")).isEqualTo("fetched");
        assertThat(built.attribute("added/file.txt", "mode")).isEqualTo(0100600);
        assertThat(built.attribute("added/file.txt", "uid")).isEqualTo(0);
        assertThat(Files.getLastModifiedTime(Objects.requireNonNull(built.find("added/file.txt")))
                        .toMillis())
                .isEqualTo(1_000_000_000_000L);
        assertThat(built.read("several/moved")).isEqualTo("fetched");
        assertThat(built.read("several/a.txt")).isEqualTo("a");
        assertThat(built.attribute("several/moved", "mode")).isEqualTo(0100644);
        assertThat(built.attribute("several/moved", "uid")).isEqualTo(1000);
        assertThat(built.find("kept/packed.tar"))
                .as("archives of URLs are not unpacked")
                .isNotNull();
        assertThat(built.read("unpacked/inside.txt")).isEqualTo("archived");

        String same = "FROM base\nADD %s /again/\n".formatted(url);
        build(same).requireReady();
        assertThat(build(same).requireReady().text()).contains("CACHED ADD");
        files.removeContext("/dir/file.txt");
        serve(files, "/dir/file.txt", 200, "changed");
        var changed = build(same).requireReady();
        assertThat(changed.text()).doesNotContain("CACHED ADD");
        assertThat(changed.read("again/file.txt")).isEqualTo("changed");
        files.removeContext("/dir/file.txt");
        files.removeContext("/moved");
    }

    @Test
    void refusesUrlsThatAreNotWhatTheyShouldBe() throws Exception {
        String url = serve(files, "/wrong", 200, "something else");
        String bad = "0".repeat(64);
        assertThat(build("FROM base\n\nADD --checksum=sha256:%s %s /x\n".formatted(bad, url))
                        .failure())
                .contains("Dockerfile:3:", sha256("something else"), "--checksum says sha256:" + bad);
        assertThat(build("FROM base\nADD http://127.0.0.1:%d/missing /x\n".formatted(port(files)))
                        .failure())
                .contains("Dockerfile:2:", "the server answers 404");
        assertThat(build("FROM base\nADD http://127.0.0.1:%d/ /x/\n".formatted(port(files)))
                        .failure())
                .contains("does not end with the name of a file");
        assertThat(build("FROM base\nADD http://me:hidden@127.0.0.1/x /x\n").failure())
                .contains("without a user or password");
        String ring = serve(files, "/ring", 302, "", "Location", "/ring");
        assertThat(build("FROM base\nADD %s /x\n".formatted(ring)).failure()).contains("redirects more than");
    }

    @Test
    void reachesNoAddressThatIsNotOpenToSandboxes() throws Exception {
        var closed = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        closed.start();
        try {
            var asked = new AtomicInteger();
            closed.createContext("/", exchange -> {
                asked.incrementAndGet();
                exchange.sendResponseHeaders(200, -1);
                exchange.close();
            });
            String url = "http://127.0.0.1:%d/secret".formatted(port(closed));
            String way = serve(files, "/way", 302, "", "Location", url);
            for (String each : List.of(
                    url,
                    way,
                    url.replace("127.0.0.1", "localhost"),
                    url.replace("127.0.0.1", "[::ffff:127.0.0.1]"),
                    "http://169.254.169.254/latest/meta-data",
                    "https://10.0.0.1/x")) {
                assertThat(build("FROM base\nADD %s /x\n".formatted(each)).failure())
                        .as(each)
                        .contains(
                                "Dockerfile:2:",
                                "is not a public address; the operator can allow it in network.openAddresses");
            }
            assertThat(asked).hasValue(0);
        } finally {
            closed.stop(0);
        }
    }

    private static String sha256(String text) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)));
    }

    private static Built build(String text) throws Exception {
        return build(text, Map.of());
    }

    private static Built build(String text, Map<String, RegistryLogin> logins) throws Exception {
        var base = new BuildPlan.Base.Dockerfile(
                text,
                "Dockerfile",
                HASH,
                Map.of(),
                null,
                Map.of("base", new BuildPlan.Base.Layers(List.of("base"), null, "user", null, Map.of())),
                logins);
        var plan = new BuildPlan(
                new BuildId(UUID.randomUUID().toString()),
                new TemplateId("template1"),
                TEAM,
                base,
                List.of(),
                false,
                null,
                null,
                new Resources(1, 256, 300));
        var built = new Built();
        node.node.builds().begin(plan, built);
        built.over.get(200, TimeUnit.SECONDS);
        return built;
    }

    /// What came of a build.
    private static final class Built implements NodeBuilds.Watcher {
        private final CompletableFuture<Boolean> over = new CompletableFuture<>();
        private final List<String> lines = new CopyOnWriteArrayList<>();
        private volatile @Nullable BuildResult result;
        private volatile String failure = "";

        @Override
        public void said(BuildLine line) {
            lines.add(line.message());
        }

        @Override
        public void ready(BuildResult made) {
            result = made;
            over.complete(true);
        }

        @Override
        public void failed(@Nullable String step, String message) {
            failure = message;
            over.complete(false);
        }

        Built requireReady() {
            assertThat(failure).as(text()).isEmpty();
            return this;
        }

        BuildResult require() {
            return Objects.requireNonNull(result);
        }

        String failure() {
            return failure;
        }

        String text() {
            return String.join("\n", lines);
        }

        @Nullable
        Path find(String path) throws IOException {
            var layers = place.directory().resolve("cache/layers");
            return new LayerView(require().layers().stream()
                            .map(key -> real(layers.resolve(key).resolve("rootfs")))
                            .toList())
                    .find(path)
                    .place();
        }

        private static Path real(Path path) {
            try {
                return path.toRealPath();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        String read(String path) throws IOException {
            return Files.readString(Objects.requireNonNull(find(path), path));
        }

        int attribute(String path, String name) throws IOException {
            return (int)
                    Files.getAttribute(Objects.requireNonNull(find(path)), "unix:" + name, LinkOption.NOFOLLOW_LINKS);
        }
    }
}
