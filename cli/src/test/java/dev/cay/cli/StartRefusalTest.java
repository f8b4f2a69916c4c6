package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.cay.node.host.HostLedger;
import dev.cay.node.host.Programs;
import dev.cay.node.host.Reservation;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Whatever keeps Cay from starting is one sentence that says how to fix it, never a trace.
@NeedsRoot
final class StartRefusalTest {
    private static final Duration LIMIT = Duration.ofMinutes(5);

    @TempDir
    private Path directory = Path.of("unset");

    private final Programs programs = Programs.ofHost();
    private @Nullable Reservation place;

    @BeforeEach
    void configure() throws IOException {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
        Files.createDirectory(directory.resolve("state"));
        var reserved = HostLedger.ofHost().reserve(directory, 24);
        place = reserved;
        Files.writeString(directory.resolve("cay.yaml"), """
                instance: %s
                stateDir: %s/state
                runDir: %s/run
                http:
                  listen: 127.0.0.1
                  port: %d
                  tlsPort: %d
                storage:
                  poolSizeMB: 1GB
                  uidBase: %d
                network:
                  range: %s
                """.formatted(
                        reserved.instance(),
                        directory,
                        directory,
                        reserved.claim().port(),
                        reserved.claim().tlsPort(),
                        reserved.claim().uidBase(),
                        reserved.claim().range()));
    }

    @AfterEach
    void release() {
        if (place != null) {
            HostLedger.ofHost().release(place);
        }
    }

    private Reservation place() {
        return Objects.requireNonNull(place, "not configured");
    }

    /// An address of ours.
    private String address(int last) {
        return place().plan().gateway().replaceFirst("1$", Integer.toString(last));
    }

    @Test
    void aNetworkOfTheHostInOurRange() throws Exception {
        String link = "sr" + place().instance();
        programs.require(LIMIT, "ip", "link", "add", link, "type", "veth", "peer", "name", link + "p");
        try {
            programs.require(LIMIT, "ip", "link", "set", link, "up");
            programs.require(LIMIT, "ip", "address", "add", address(65) + "/26", "dev", link);
            assertThat(lastLine(up()))
                    .isEqualTo(
                            "cay: network.range %s overlaps %s/26, which this host reaches through %s; set network.range to addresses that are not in use"
                                    .formatted(place().claim().range(), address(64), link));
        } finally {
            programs.require(LIMIT, "ip", "link", "delete", link);
        }
    }

    @Test
    void aStateDirectoryThatCannotBeWritten() throws Exception {
        Path state = directory.resolve("state");
        programs.require(LIMIT, "mount", "-t", "tmpfs", "-o", "ro,size=1m", "cay-test", state.toString());
        try {
            assertThat(up()).startsWith("cay: " + state + " cannot be written to (Read-only file system)");
        } finally {
            programs.require(LIMIT, "umount", state.toString());
        }
    }

    @Test
    void aDamagedDatabaseAndARunFileThatMakesNoSense() throws Exception {
        Path database = directory.resolve("state/cay.db");
        Files.writeString(database, "nonsense ".repeat(1000));
        Files.createDirectory(directory.resolve("run"));
        Files.writeString(directory.resolve("run/cay.json"), "{ nonsense");
        assertThat(run("env")).contains("cay.json cannot be read or parsed");
        assertThat(lastLine(up())).startsWith("cay: the database %s is damaged; put back a copy".formatted(database));
        assertNoTraces();
    }

    @Test
    void aPortForNamesThatIsTaken() throws Exception {
        String gateway = place().plan().gateway();
        programs.require(LIMIT, "ip", "address", "add", gateway + "/32", "dev", "lo");
        try (var _ = new DatagramSocket(new InetSocketAddress(gateway, 53))) {
            assertThat(lastLine(up())).startsWith("cay: ").contains(gateway);
        } finally {
            programs.run(LIMIT, "ip", "address", "delete", gateway + "/32", "dev", "lo");
        }
        assertNoTraces();
    }

    @Test
    void aPortThatIsTaken() throws Exception {
        try (var taken = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
            assertThat(run("up", "--port", Integer.toString(taken.getLocalPort())))
                    .startsWith("cay: port %d is taken by ".formatted(taken.getLocalPort()));
        }
    }

    @Test
    void aUserWhoIsNotRoot() throws Exception {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        var command = new ArrayList<>(List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
        command.addAll(command("up"));
        for (String entry : System.getProperty("java.class.path").split(":")) {
            boolean readable = programs.run(
                            LIMIT, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "test", "-r", entry)
                    .ok();
            assumeTrue(readable, "only root can read the classes here");
        }
        assertThat(finish(command))
                .isEqualTo("cay: up needs root to make sandboxes; run: sudo ./cay up --config "
                        + directory.resolve("cay.yaml"));
    }

    /// The kernel detaches a loop device a moment after its file system is unmounted.
    private void assertNoTraces() {
        Await.until("the refused start leaves nothing on the host", () -> traces().isEmpty());
    }

    /// What a refused start must not leave on the host.
    private List<String> traces() throws IOException {
        var host = new ArrayList<String>(Files.readAllLines(Path.of("/proc/mounts")));
        for (var command : List.of("nft list tables", "ip -o address show dev lo", "losetup --list")) {
            programs.require(LIMIT, command.split(" ")).lines().forEach(host::add);
        }
        return host.stream()
                .filter(line -> line.contains(directory.toString())
                        || line.contains("cay_" + place().instance())
                        || line.contains(place().plan().gateway() + "/"))
                .toList();
    }

    private String up() throws Exception {
        return run("up");
    }

    private static String lastLine(String text) {
        return text.lines().toList().getLast();
    }

    private String run(String... arguments) throws Exception {
        return finish(command(arguments));
    }

    private String finish(List<String> command) throws Exception {
        Path output = Files.createTempFile(directory, "run", ".out");
        var process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
        String text = Files.readString(output).strip();
        assertThat(text).as("never a trace").doesNotContain("\tat ").doesNotContain("Exception:");
        return text;
    }

    private List<String> command(String... arguments) {
        return MainProcess.command(directory, arguments);
    }
}
