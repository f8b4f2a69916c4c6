package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.cli.local.KeyFile;
import dev.cay.cli.local.RunFile;
import dev.cay.http.HttpListeners;
import dev.cay.life.SystemClock;
import dev.cay.life.Undo;
import dev.cay.metrics.Meters;
import dev.cay.server.AttachedNode;
import dev.cay.server.CayServer;
import dev.cay.server.ServerSettings;
import dev.cay.server.access.AdminToken;
import dev.cay.server.audit.AuditLog;
import dev.cay.server.build.BuildService;
import dev.cay.server.log.OtlpSettings;
import dev.cay.server.people.PersonAccess;
import dev.cay.server.quota.Limits;
import dev.cay.server.store.Store;
import dev.cay.server.store.sqlite.SqliteStore;
import dev.cay.server.webhook.Webhooks;
import dev.cay.wire.node.Durability;
import dev.cay.wire.node.Node;
import dev.cay.wire.node.Resources;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A real server in this process, and the files by which commands find it. Commands run as processes of their own.
final class CommandServer implements AutoCloseable {
    /// What a command said, and its exit code.
    record Said(int code, String out, String errors) {}

    final Store store;
    final CayServer server;
    final String url;
    final String key;
    private final Path directory;
    private final Undo closing = new Undo();

    /// @param allowed addresses that receivers of webhooks may lie at
    CommandServer(Path directory, Node node, String... allowed) throws IOException {
        this.directory = directory;
        var listeners = closing.add(new HttpListeners());
        listeners.start();
        Path state = Files.createDirectories(directory.resolve("state"));
        store = closing.add(SqliteStore.open(state.resolve("cay.db")));
        server = closing.add(server(state, node, List.of(allowed)));
        server.start();
        var address = listeners.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), server.frontDoor());
        url = "http://127.0.0.1:" + address.getPort();
        Files.createDirectories(directory.resolve("run"));
        new RunFile(ProcessHandle.current().pid(), "v", "0", url, "d", "c", "b", "s").write(directory.resolve("run"));
        Path file = KeyFile.in(directory, "0");
        Files.createDirectories(file.getParent());
        key = server.firstKey().orElseThrow();
        Files.writeString(file, key);
        Files.writeString(directory.resolve("cay.yaml"), "stateDir: %s\nrunDir: %s/run\n".formatted(state, directory));
    }

    private CayServer server(Path state, Node node, List<String> allowed) {
        var builds =
                new BuildService.Settings(new Resources(2, 1024, 1024), 1024, () -> 1024, 1, 1, List.of(), directory);
        var settings = new ServerSettings(
                "cay.test",
                new ServerSettings.Files(
                        state.resolve("secret"), AdminToken.in(state).file(), state.resolve("records")),
                new ServerSettings.Teams(
                        Limits.NONE, new PersonAccess.Settings(URI.create("http://127.0.0.1"), null, List.of())),
                new ServerSettings.Sandboxes(
                        Duration.ofMinutes(5),
                        Duration.ofHours(1),
                        null,
                        Durability.FROZEN,
                        Duration.ofMinutes(1),
                        List.of()),
                new ServerSettings.Templates(builds, null),
                new ServerSettings.Observation(
                        Duration.ofSeconds(5),
                        AuditLog.Settings.USUAL,
                        OtlpSettings.NONE,
                        Webhooks.Settings.allowing(allowed)));
        return new CayServer(settings, store, AttachedNode.of(node), SystemClock.only(), new Meters());
    }

    /// Runs a command to its end.
    Said cay(String... words) throws Exception {
        return cayWith("", words);
    }

    /// The same with something to read.
    Said cayWith(String input, String... words) throws Exception {
        Path in = Files.writeString(directory.resolve("in"), input);
        Path out = directory.resolve("out");
        Path errors = directory.resolve("errors");
        var process = builder(words)
                .redirectInput(in.toFile())
                .redirectOutput(out.toFile())
                .redirectError(errors.toFile())
                .start();
        try {
            assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
            return new Said(process.exitValue(), Files.readString(out), Files.readString(errors));
        } finally {
            process.destroyForcibly();
        }
    }

    /// A command that finds this server.
    ProcessBuilder builder(String... words) {
        var builder = new ProcessBuilder(MainProcess.command(directory, words));
        builder.environment().put("HOME", directory.toString());
        return builder;
    }

    @Override
    public void close() {
        closing.close();
    }
}
