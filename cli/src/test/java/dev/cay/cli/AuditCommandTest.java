package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.cli.local.KeyFile;
import dev.cay.cli.local.RunFile;
import dev.cay.http.HttpListeners;
import dev.cay.life.SystemClock;
import dev.cay.life.Undo;
import dev.cay.metrics.Meters;
import dev.cay.server.CayServer;
import dev.cay.server.access.AdminToken;
import dev.cay.server.audit.AuditLog;
import dev.cay.server.build.BuildFloor;
import dev.cay.server.log.OtlpSettings;
import dev.cay.server.people.PersonAccess;
import dev.cay.server.quota.Limits;
import dev.cay.server.store.Store;
import dev.cay.server.store.sqlite.SqliteStore;
import dev.cay.server.webhook.Webhooks;
import dev.cay.testing.Fast;
import dev.cay.wire.node.NodeAuthorizations;
import dev.cay.wire.node.NodeBuilds;
import dev.cay.wire.node.NodeDisk;
import dev.cay.wire.node.NodeTemplates;
import dev.cay.wire.node.Resources;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `cay audit`, as a process, with a real server that has no sandboxes.
@Fast
final class AuditCommandTest {
    private record Said(int code, String out, String errors) {}

    @TempDir
    private Path directory = Path.of("unset");

    private final Undo closing = new Undo();
    private Store store;

    @BeforeEach
    void start() throws Exception {
        var listeners = closing.add(new HttpListeners());
        listeners.start();
        Path state = Files.createDirectories(directory.resolve("state"));
        store = closing.add(SqliteStore.open(state.resolve("cay.db")));
        var server = closing.add(server(state));
        server.start();
        var address = listeners.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), server.frontDoor());
        String url = "http://127.0.0.1:" + address.getPort();
        Files.createDirectories(directory.resolve("run"));
        new RunFile(ProcessHandle.current().pid(), "v", "0", url, "d", "c", "b", "s").write(directory.resolve("run"));
        Path key = KeyFile.in(directory, "0");
        Files.createDirectories(key.getParent());
        Files.writeString(key, server.firstKey().orElseThrow());
        Files.writeString(directory.resolve("cay.yaml"), "stateDir: %s\nrunDir: %s/run\n".formatted(state, directory));
    }

    private CayServer server(Path state) {
        return new CayServer(
                new CayServer.Settings(
                        state.resolve("secret"),
                        AdminToken.in(state).file(),
                        "cay.test",
                        Duration.ofMinutes(5),
                        Duration.ofHours(1),
                        null,
                        Duration.ofMinutes(1),
                        state.resolve("records"),
                        Duration.ofSeconds(5),
                        null,
                        Limits.NONE,
                        new BuildFloor.Settings(
                                new Resources(2, 1024, 1024), 1024, () -> 1024, 1, 1, List.of(), directory),
                        Webhooks.Settings.allowing(List.of()),
                        AuditLog.Settings.USUAL,
                        OtlpSettings.NONE,
                        new PersonAccess.Settings(URI.create("http://127.0.0.1"), null, List.of())),
                store,
                new Rehearsal.EmptyNode(),
                NodeTemplates.NONE,
                NodeBuilds.NONE,
                NodeDisk.NONE,
                NodeAuthorizations.NONE,
                (_, _) -> {},
                SystemClock.only(),
                new Meters());
    }

    @AfterEach
    void stop() {
        closing.close();
    }

    @Test
    void entriesAreListedExportedAndVerified() throws Exception {
        assertThat(cay("key", "create", "ci").code()).isZero();
        assertThat(cay("admin-token", "--renew").code()).isZero();
        assertThat(cay("audit", "list").out())
                .containsPattern(" key:\\S+ 127.0.0.1 key.create ok 201 key=")
                .contains("operator 127.0.0.1 admin-token.renew ok");
        assertThat(cay("audit", "list", "--action", "key", "--since", "1h", "--json")
                        .out())
                .hasLineCount(1)
                .startsWith("{\"action\":\"key.create\"");
        assertThat(cay("audit", "list", "--until", "1h").out()).isEmpty();
        assertThat(cay("audit", "list", "--since", "soon").errors()).contains("--since is 'soon'");
        String head = cay("audit", "head").out().strip();
        assertThat(head).matches("\\d+:[0-9a-f]{64}");

        Path file = directory.resolve("audit.jsonl");
        assertThat(cay("audit", "export", file.toString()).code()).isZero();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(cay("audit", "export", "-").out()).startsWith(Files.readString(file));
        assertThat(cay("audit", "verify", "--file", file.toString()).out()).contains("lines are right; head ");
        Files.writeString(file, Files.readString(file).replace("key.create", "key.rename"));
        var wrongFile = cay("audit", "verify", "--file", file.toString());
        assertThat(wrongFile.code()).isEqualTo(1);
        assertThat(wrongFile.out()).contains("entry 2 is wrong");

        assertThat(cay("audit", "verify", "--head", head).out()).contains("entries are right; head ");
        var other = cay("audit", "verify", "--head", "2:" + "0".repeat(64));
        assertThat(other.code()).isEqualTo(1);
        assertThat(other.out()).contains("entry 2 is wrong: it is not the one that was kept");
        store.write(handle -> handle.execute("DELETE FROM audit WHERE sequence = 2"));
        var gone = cay("audit", "verify");
        assertThat(gone.code()).isEqualTo(1);
        assertThat(gone.out()).contains("entry 2 is wrong: it is missing");
    }

    @Test
    void followingShowsWhatIsAddedUntilItIsStopped() throws Exception {
        Path out = directory.resolve("followed");
        var builder = new ProcessBuilder(MainProcess.command(directory, "audit", "list", "-f"))
                .redirectOutput(out.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().put("HOME", directory.toString());
        var following = builder.start();
        try {
            await(out, "daemon.start");
            assertThat(cay("key", "create", "ci").code()).isZero();
            await(out, "key.create");
        } finally {
            following.destroy();
            assertThat(following.waitFor(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    private static void await(Path file, String text) throws Exception {
        long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (!Files.readString(file).contains(text)) {
            assertThat(System.nanoTime()).as(text).isLessThan(end);
            Thread.sleep(50);
        }
    }

    private Said cay(String... words) throws Exception {
        Path out = directory.resolve("out");
        Path errors = directory.resolve("errors");
        var arguments = new ArrayList<>(Arrays.asList(words));
        var builder = new ProcessBuilder(MainProcess.command(directory, arguments.toArray(String[]::new)))
                .redirectOutput(out.toFile())
                .redirectError(errors.toFile());
        builder.environment().put("HOME", directory.toString());
        var process = builder.start();
        try {
            assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
            return new Said(process.exitValue(), Files.readString(out), Files.readString(errors));
        } finally {
            process.destroyForcibly();
        }
    }
}
