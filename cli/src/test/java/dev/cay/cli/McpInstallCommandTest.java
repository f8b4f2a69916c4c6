package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

@Fast
final class McpInstallCommandTest {
    private static final JsonMapper JSON = new JsonMapper();

    @TempDir
    private Path directory = Path.of("unset");

    private final Path launcher = Path.of("/opt/cay/cay");

    @Test
    void theUsersHomeIsWhereTheEnvironmentSays() throws Exception {
        var command = MainProcess.command(directory, "mcp", "install", "cursor");
        var builder = new ProcessBuilder(command.subList(0, command.indexOf("--config"))).redirectErrorStream(true);
        builder.environment().put("HOME", directory.toString());
        var process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(said).contains(directory.resolve(".cursor/mcp.json").toString());
        assertThat(directory.resolve(".cursor/mcp.json")).exists();
    }

    @Test
    void addsItselfAndKeepsWhatElseIsThere() throws Exception {
        var file = directory.resolve("client.json");
        Files.writeString(file, """
                {"theme": "dark", "mcpServers": {"other": {"command": "x"}, "cay": {"command": "old"}}}""");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        McpInstallCommand.add(file, McpInstallCommand.entry(launcher, Map.of()));
        var whole = JSON.readTree(Files.readString(file));
        assertThat(whole.path("theme").asString()).isEqualTo("dark");
        assertThat(whole.path("mcpServers").path("other").path("command").asString())
                .isEqualTo("x");
        assertThat(whole.path("mcpServers").path("cay")).isEqualTo(JSON.readTree("""
                {"type": "stdio", "command": "/opt/cay/cay", "args": ["mcp"]}"""));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-r-----");
    }

    @Test
    void aKeyGoesIntoAFileThatOnlyItsOwnerReads() throws Exception {
        var file = directory.resolve("deep/er/client.json");
        var variables = Map.of("E2B_API_KEY", "e2b_1", "E2B_DOMAIN", "d", "SSL_CERT_FILE", "/c", "AWS_SECRET", "s");
        McpInstallCommand.add(file, McpInstallCommand.entry(launcher, variables));
        var entry = JSON.readTree(Files.readString(file)).path("mcpServers").path("cay");
        assertThat(entry.path("env")).isEqualTo(JSON.readTree("""
                {"E2B_API_KEY": "e2b_1", "E2B_DOMAIN": "d", "SSL_CERT_FILE": "/c"}"""));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(file.getParent().toFile().list()).containsExactly("client.json");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{", "[]", "{\"mcpServers\": 7}"})
    void leavesAFileAloneThatItDoesNotUnderstand(String content) throws Exception {
        var file = Files.writeString(directory.resolve("client.json"), content);
        var entry = McpInstallCommand.entry(launcher, Map.of());
        assertThatThrownBy(() -> McpInstallCommand.add(file, entry)).hasMessageContaining(file.toString());
        assertThat(Files.readString(file)).isEqualTo(content);
    }
}
