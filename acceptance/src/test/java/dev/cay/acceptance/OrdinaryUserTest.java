package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.cay.node.host.Programs;
import dev.cay.node.image.HouseTemplate;
import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// What is installed can be read by the ordinary user of a sandbox, however strict the daemon is with its own files.
@ExtendWith(TestPlatform.class)
@Timeout(3600)
@NeedsRoot
final class OrdinaryUserTest {
    private static final Duration LIMIT = Duration.ofMinutes(1);

    /// Lists all that packages and layers brought, and prints what cannot be read. Programs that change the user are
    /// for their groups alone, and links of documents that were left out lead nowhere.
    private static final String LIST = """
            cd / && ls >/dev/null && ls /usr/bin | grep -qx env && find / -xdev -maxdepth 1 ! -readable ! -name root &&
                find /usr /opt ! -type l ! -readable ! -perm /6000 && echo listed""";

    /// All but one, which has nothing that code-interpreter-v1 has not.
    private static List<String> templates() {
        return HouseTemplate.names().stream()
                .filter(name -> !name.equals("code-interpreter-lite"))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("templates")
    void readsWhatATemplateHas(String template, OwnCay platform) throws Exception {
        awaitTemplate(template, platform);
        try (var sandbox = RemoteSandbox.create(platform.url(), platform.key(), template, Duration.ofMinutes(10))) {
            assertThat(sandbox.run(List.of("/bin/su", "user", "-c", LIST))).isEqualTo("listed\n");
            sandbox.run(List.of("/bin/chmod", "700", "/usr/share/doc"));
            assertThat(sandbox.run(List.of("/bin/su", "user", "-c", LIST)))
                    .as("the control")
                    .contains("/usr/share/doc");
        }
    }

    /// Not every agent has a program for each kind of CPU.
    private static void awaitTemplate(String template, OwnCay platform) throws Exception {
        try {
            platform.awaitTemplate(template);
        } catch (CayException e) {
            assumeFalse(String.valueOf(e.getMessage()).contains("for this kind of CPU"), e.getMessage());
            throw e;
        }
    }

    @Test
    void readsThePackageOfAnMcpServer(OwnCay platform) throws Exception {
        try (var sandbox = RemoteSandbox.create(platform.url(), platform.key())) {
            String begun =
                    sandbox.run(List.of("/bin/sh", "-c", "mcp-gateway --config '{\"memory\":{}}' && echo begun"));
            assertThat(begun).contains("begun");
            String server = awaitServer(sandbox);
            String said = asUser(server, LIST + " && find /opt/mcp -name package.json -readable");
            assertThat(said).startsWith("listed\n").contains("/@modelcontextprotocol/server-memory/package.json");
        }
    }

    /// The process of the server, when its package is installed.
    private static String awaitServer(RemoteSandbox sandbox) throws Exception {
        long end = System.nanoTime() + Duration.ofMinutes(10).toNanos();
        while (System.nanoTime() < end) {
            var found = server(sandbox.id());
            if (found.isPresent()) {
                return found.get();
            }
            Thread.sleep(Duration.ofMillis(200));
        }
        throw new AssertionError("no server runs: " + sandbox.run(List.of("/bin/sh", "-c", "mcp-gateway status")));
    }

    private static Optional<String> server(String owner) throws IOException {
        try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
            return processes
                    .filter(process -> read(process.resolve("cgroup")).contains("/%s/_servers/".formatted(owner)))
                    .filter(process -> read(process.resolve("cmdline")).contains("server-memory"))
                    .map(process -> process.getFileName().toString())
                    .findFirst();
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException gone) {
            return "";
        }
    }

    /// As the user that sandboxes have for people, in the sandbox of a process.
    private static String asUser(String pid, String script) {
        return Programs.ofHost()
                .require(
                        LIMIT,
                        "",
                        List.of(
                                "nsenter", "-t", pid, "-U", "-m", "-p", "-r", "-w", "-S", "1000", "-G", "1000", "sh",
                                "-c", script));
    }
}
