package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(120)
@Fast
final class McpCommandTest {
    @TempDir
    private Path directory = Path.of("unset");

    private Process start(String... arguments) throws Exception {
        Files.writeString(directory.resolve("cay.yaml"), "instance: mcptest\nrunDir: %s\n".formatted(directory));
        var builder = new ProcessBuilder(MainProcess.command(directory, arguments));
        builder.environment().put("E2B_API_URL", "http://127.0.0.1:9");
        builder.environment().remove("E2B_API_KEY");
        return builder.directory(directory.toFile()).redirectErrorStream(true).start();
    }

    private static String output(Process process) throws Exception {
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return output;
    }

    @Test
    void namesWhoHasThePort() throws Exception {
        try (var taken = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
            var process = start("mcp", "--http", "--port", Integer.toString(taken.getLocalPort()));
            assertThat(output(process))
                    .contains("port %d is taken by java (pid %d)"
                            .formatted(
                                    taken.getLocalPort(),
                                    ProcessHandle.current().pid()))
                    .contains("--port");
            assertThat(process.exitValue()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @CsvSource({"--port, 70000", "--port, many", "--listen, somewhere", "--listen, 192.0.2.1"})
    void namesWhatIsWrong(String option, String value) throws Exception {
        var process = start("mcp", "--http", option, value);
        assertThat(output(process)).contains(value).doesNotContain("Exception");
        assertThat(process.exitValue()).isNotZero();
    }

    @Test
    void saysWhereItServesAndEndsWhenTold() throws Exception {
        var process = start("mcp", "--http", "--port", "0");
        try (var lines = process.inputReader(StandardCharsets.UTF_8)) {
            assertThat(lines.readLine()).matches("MCP is served at http://127\\.0\\.0\\.1:\\d+/mcp; .*");
            process.destroy();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
    }
}
