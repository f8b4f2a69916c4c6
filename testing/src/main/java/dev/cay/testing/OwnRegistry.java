package dev.cay.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A registry for container images of a test's own, from the host's package `docker-registry`: its files in a
/// directory of the test, without TLS on a port of loopback that nobody else has. It dies with the thread that
/// started it.
public final class OwnRegistry implements AutoCloseable {
    public static final String USER = "tester";
    public static final String PASSWORD = "s3cret pass";

    /// Of the user above; the registry takes no other kind of hash.
    private static final String USERS = "tester:$2b$04$cTjrVLcXcLIce59AUlGxFec8Tbmgna4b81w2XaVqmFNQD1yOvAwhK\n";

    private static final Path PROGRAM = Path.of("/usr/bin/docker-registry");
    private static final int PATIENCE_SECONDS = 60;

    private final Path directory;
    private final int port;
    private final boolean password;
    private @Nullable Process server;

    private OwnRegistry(Path directory, int port, boolean password) {
        this.directory = directory;
        this.port = port;
        this.password = password;
    }

    /// An empty registry.
    ///
    /// @param password whether it asks for {@link #USER} and {@link #PASSWORD}
    public static OwnRegistry start(Path directory, boolean password) throws IOException, InterruptedException {
        var fresh = new OwnRegistry(Files.createDirectories(directory).toRealPath(), OwnPort.free(), password);
        fresh.start();
        return fresh;
    }

    /// Host and port, as they stand before the name of an image.
    public String host() {
        return "127.0.0.1:" + port;
    }

    /// Starts a registry that was killed, with all that is on its disk.
    public void start() throws IOException, InterruptedException {
        if (!Files.isExecutable(PROGRAM)) {
            throw new IOException("there is no " + PROGRAM + "; install the package docker-registry");
        }
        Files.writeString(directory.resolve("users"), USERS);
        var configuration = Files.writeString(directory.resolve("config.yml"), configuration());
        var started = new ProcessBuilder(List.of(
                        "setpriv", "--pdeathsig", "KILL", PROGRAM.toString(), "serve", configuration.toString()))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()))
                .start();
        server = started;
        OwnPort.await(started, port, () -> {}, "the registry", log());
    }

    /// As a crash does.
    public void kill() {
        var running = server;
        server = null;
        if (running != null) {
            running.destroyForcibly()
                    .onExit()
                    .orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS)
                    .join();
        }
    }

    /// Requests that it has answered, a line each.
    public List<String> requests() throws IOException {
        try (var lines = Files.lines(log())) {
            return lines.filter(line -> line.contains("HTTP/1.1\"")).toList();
        }
    }

    @Override
    public void close() {
        kill();
    }

    private String configuration() {
        String users = password ? """
                auth:
                  htpasswd:
                    realm: tests
                    path: %s
                """.formatted(directory.resolve("users")) : "";
        return """
                version: 0.1
                log:
                  level: warn
                  accesslog:
                    disabled: false
                storage:
                  filesystem:
                    rootdirectory: %s
                http:
                  addr: 127.0.0.1:%d
                %s""".formatted(directory.resolve("data"), port, users);
    }

    private Path log() {
        return directory.resolve("log");
    }
}
