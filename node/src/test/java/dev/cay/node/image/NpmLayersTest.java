package dev.cay.node.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.cay.node.host.Programs;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The npm of a real base template, with a registry of our own.
@Timeout(120)
@NeedsRoot
class NpmLayersTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private final Map<String, byte[]> registry = new ConcurrentHashMap<>();
    private final Queue<String> asked = new ConcurrentLinkedQueue<>();
    private HttpServer server;
    private LayerStore layers;
    private NpmLayers packages;

    @BeforeEach
    void open() throws Exception {
        var cache = directory.resolve("cache");
        Files.createSymbolicLink(
                Files.createDirectories(cache.resolve("layers/base")).resolve("rootfs"), BuiltBase.rootfs());
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            asked.add(path);
            byte[] body = registry.get(path);
            exchange.sendResponseHeaders(body == null ? 404 : 200, body == null ? -1 : body.length);
            if (body != null) {
                exchange.getResponseBody().write(body);
            }
            exchange.close();
        });
        server.start();
        layers = new LayerStore(cache);
        var programs = new Programs(
                List.of("env", "npm_config_registry=" + address("/"), "npm_config_cache=" + directory.resolve("npm")));
        packages = new NpmLayers(layers, programs, directory.resolve("logs"));
    }

    @AfterEach
    void close() throws IOException {
        Files.deleteIfExists(directory.resolve("cache/layers/base/rootfs"));
        if (server != null) {
            server.stop(0);
        }
    }

    private String address(String path) {
        return "http://127.0.0.1:%d%s".formatted(server.getAddress().getPort(), path);
    }

    /// @param more fields of its package.json
    private void publish(String name, String more) throws Exception {
        var folder = Files.createDirectories(directory.resolve(name).resolve("package"));
        String fields = "\"name\":\"%s\",\"version\":\"1.0.0\",\"bin\":{\"%s\":\"main.js\",\"bare\":\"bare.js\"}%s"
                .formatted(name, name, more);
        Files.writeString(folder.resolve("package.json"), "{" + fields + "}");
        Files.writeString(folder.resolve("main.js"), "#!/usr/bin/env node\n");
        Files.writeString(folder.resolve("bare.js"), "1\n");
        var archive = directory.resolve(name + ".tgz");
        Programs.ofHost()
                .require(
                        LIMIT,
                        "tar",
                        "-czf",
                        archive.toString(),
                        "-C",
                        folder.getParent().toString(),
                        "package");
        registry.put("/" + name + ".tgz", Files.readAllBytes(archive));
        String version = "{%s,\"dist\":{\"tarball\":\"%s\"}}".formatted(fields, address("/" + name + ".tgz"));
        registry.put(
                "/" + name,
                "{\"name\":\"%s\",\"dist-tags\":{\"latest\":\"1.0.0\"},\"versions\":{\"1.0.0\":%s}}"
                        .formatted(name, version)
                        .getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void installsWithoutRunningAnything() throws Exception {
        var mark = directory.resolve("ran");
        String script = "touch " + mark;
        publish(
                "plain",
                ",\"scripts\":{\"preinstall\":\"%s\",\"install\":\"%s\",\"postinstall\":\"%s\",\"prepare\":\"%s\"}"
                        .formatted(script, script, script, script));

        String key = packages.install("base", "plain", "1.0.0");

        assertThat(mark).doesNotExist();
        assertThat(packages.command(key, "plain")).containsExactly("/opt/mcp/bin/plain");
        assertThat(packages.command(key, "bare"))
                .as("says not how it is run")
                .containsExactly("node", "/opt/mcp/bin/bare");
        for (String other : List.of("other", "../../../../etc/passwd", ".", "")) {
            assertThatThrownBy(() -> packages.command(key, other))
                    .isInstanceOf(CayException.class)
                    .hasMessage("the npm package has no program %s; it has: bare, plain".formatted(other));
        }
        for (String path : List.of("opt", "opt/mcp", "opt/mcp/lib/node_modules/plain")) {
            var mode = Files.getPosixFilePermissions(layers.require(key).resolve(path));
            assertThat(PosixFilePermissions.toString(mode)).isEqualTo("rwxr-xr-x");
        }
    }

    @Test
    void installsOnceForAllWhoWantIt() throws Exception {
        publish("wanted", "");
        var all = List.of(wanted(), wanted(), wanted());
        for (var one : all) {
            assertThat(one.get(90, TimeUnit.SECONDS)).isEqualTo(all.getFirst().get());
        }
        assertThat(asked.stream().filter("/wanted.tgz"::equals)).hasSize(1);
    }

    private CompletableFuture<String> wanted() {
        return CompletableFuture.supplyAsync(
                () -> packages.install("base", "wanted", "1.0.0"),
                task -> Thread.ofVirtual().start(task));
    }

    /// Preparing a repository runs its code, and a file is one of the host's.
    @Test
    void refusesPackagesThatNeedMoreThanTheRegistry() throws Exception {
        var host = Files.createDirectories(directory.resolve("host"));
        Files.writeString(host.resolve("package.json"), "{\"name\":\"dep\",\"version\":\"1.0.0\"}");
        publish("elsewhere", "");
        int number = 0;
        for (String from : List.of(
                "file:" + host,
                "file:" + directory.resolve("elsewhere.tgz"),
                "git+file://" + host,
                address("/elsewhere.tgz"))) {
            String name = "needy" + number++;
            publish(name, ",\"dependencies\":{\"dep\":\"%s\"}".formatted(from));
            assertThatThrownBy(() -> packages.install("base", name, "1.0.0"))
                    .as(from)
                    .isInstanceOf(CayException.class)
                    .hasMessageStartingWith("npm package %s@1.0.0 could not be installed (npm error ".formatted(name))
                    .hasMessageNotContaining(directory.toString());
            assertThat(directory.resolve("logs/mcp-npm-" + name + ".log")).isNotEmptyFile();
        }
        assertThat(asked).doesNotContain("/elsewhere.tgz");
    }

    /// A registry that accepts connections and never answers.
    private NpmLayers hanging(ServerSocket silent, Duration limit) {
        var programs = new Programs(List.of(
                "env",
                "npm_config_registry=http://127.0.0.1:%d/".formatted(silent.getLocalPort()),
                "npm_config_cache=" + directory.resolve("npm")));
        return new NpmLayers(layers, programs, directory.resolve("logs"), limit);
    }

    @Test
    void givesUpAnInstallationThatHangsAndTellsNothingOfTheHost() throws Exception {
        try (var silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                var hanging = hanging(silent, Duration.ofSeconds(3))) {
            assertThatThrownBy(() -> hanging.install("base", "plain", "1.0.0"))
                    .hasMessageStartingWith("npm package plain@1.0.0 was not installed after 3 seconds")
                    .hasMessageNotContaining(directory.toString())
                    .hasMessageNotContaining("npm-cli.js");
        }
    }

    @Test
    void endsNpmWhenItIsClosed() throws Exception {
        try (var silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> outcome;
            try (var hanging = hanging(silent, Duration.ofMinutes(10))) {
                outcome = CompletableFuture.runAsync(() -> hanging.install("base", "plain", "1.0.0"));
                silent.accept().close();
                assertThat(npms()).isNotEmpty();
            }
            assertThatThrownBy(() -> outcome.get(60, TimeUnit.SECONDS))
                    .hasMessageContaining("the installation of npm package plain@1.0.0 was stopped");
            assertThat(npms()).isEmpty();
        }
    }

    /// By the program that runs them: npm writes over its command line.
    private static List<ProcessHandle> npms() {
        return ProcessHandle.current()
                .descendants()
                .filter(process ->
                        process.isAlive() && process.info().command().orElse("").endsWith("/node"))
                .toList();
    }

    @Test
    void saysWhatIsWrong() throws Exception {
        publish("plain", "");
        assertThatThrownBy(() -> packages.install("base", "plain", "2.0.0"))
                .hasMessageContaining("npm error notarget No matching version found for plain@2.0.0");
        assertThatThrownBy(() -> packages.install("base", "plain", "latest"))
                .hasMessage("package plain must have one version, like 1.2.3, and not 'latest'");
        for (String name : List.of("-g", "../x", "git+ssh://x", "a b", "@x", "")) {
            assertThatThrownBy(() -> packages.install("base", name, "1.0.0"))
                    .hasMessage("'%s' is no name of an npm package".formatted(name));
        }
    }
}
