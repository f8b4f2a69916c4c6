package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.cay.backup.BackupWriter;
import dev.cay.backup.Manifest;
import dev.cay.cli.local.RunFile;
import dev.cay.http.Json;
import dev.cay.server.access.AdminToken;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// How `cay backup` and `cay restore` end when something goes wrong, with a server that sends what the test says.
@NeedsRoot
@Timeout(180)
final class BackupCommandTest {
    @TempDir
    private Path directory = Path.of("unset");

    private HttpServer server;
    private volatile byte[] sent = {};
    private volatile boolean cut;

    @BeforeEach
    void start() throws IOException {
        sent = backup();
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/admin/backups", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(sent);
            if (!cut) {
                exchange.getResponseBody().close();
            }
            exchange.close();
        });
        server.start();
        Path state = Files.createDirectories(directory.resolve("state"));
        AdminToken.in(state).renew(new SecureRandom());
        String url = "http://127.0.0.1:" + server.getAddress().getPort();
        new RunFile(ProcessHandle.current().pid(), "v", "0", url, "d", "c", "b", "s")
                .write(Files.createDirectories(directory.resolve("run")));
        Files.writeString(
                directory.resolve("cay.yaml"),
                "stateDir: %s\nrunDir: %s/run\ncacheDir: %s/cache\n".formatted(state, directory, directory));
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private static byte[] backup() throws IOException {
        var bytes = new ByteArrayOutputStream();
        var writer = new BackupWriter(bytes);
        writer.file(
                Manifest.NAME, Json.write(new Manifest("1", Instant.EPOCH, "sqlite", null, "g", 0, 0, 0, List.of())));
        byte[] random = new byte[4 << 20];
        new SecureRandom().nextBytes(random);
        writer.file("state/secret", random);
        writer.end();
        return bytes.toByteArray();
    }

    private Process start(Path input, Path output, String... words) throws IOException {
        var builder = new ProcessBuilder(MainProcess.command(directory, words))
                .redirectInput(input.toFile())
                .redirectOutput(output.toFile())
                .redirectError(directory.resolve("errors").toFile());
        builder.environment().put("HOME", directory.toString());
        return builder.start();
    }

    private String failing(Path output, String target) throws Exception {
        var process = start(Path.of("/dev/null"), output, "backup", target);
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).isEqualTo(1);
        return Files.readString(directory.resolve("errors"));
    }

    @Test
    void aBackupThatIsCompleteGetsItsName() throws Exception {
        Path file = directory.resolve("file");
        var process = start(Path.of("/dev/null"), directory.resolve("out"), "backup", file.toString());
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).isZero();
        assertThat(file).isNotEmptyFile();
    }

    @Test
    void aFullDiskIsNamed() throws Exception {
        assertThat(failing(Path.of("/dev/full"), "-")).contains("is full; free some of it");
    }

    @Test
    void aDaemonThatStopsSendingLeavesNoBackup() throws Exception {
        sent = Arrays.copyOf(sent, sent.length / 2);
        Path file = directory.resolve("file");
        assertThat(failing(directory.resolve("out"), file.toString()))
                .contains("stopped sending in the middle")
                .doesNotContain("another copy");
        cut = true;
        assertThat(failing(directory.resolve("out"), file.toString())).contains("stopped sending in the middle");
        try (var left = Files.list(directory)) {
            assertThat(left.filter(each -> each.getFileName().toString().contains("file")))
                    .isEmpty();
        }
    }

    /// Nobody writes to the pipe, as when the other machine waits for a password.
    @Test
    void ctrlCEndsARestoreThatWaitsForItsFile() throws Exception {
        Path state = directory.resolve("state");
        Files.delete(AdminToken.in(state).file());
        var builder = new ProcessBuilder(MainProcess.command(directory, "restore", "-"));
        builder.environment().put("HOME", directory.toString());
        var process = builder.redirectErrorStream(true)
                .redirectOutput(directory.resolve("out").toFile())
                .start();
        try {
            Await.until("the restore begins", () -> Files.exists(state.resolve("cay.lock")));
            new ProcessBuilder("kill", "-INT", Long.toString(process.pid()))
                    .start()
                    .waitFor();
            assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
            assertThat(state.resolve("restore")).doesNotExist();
        } finally {
            process.destroyForcibly();
        }
    }
}
