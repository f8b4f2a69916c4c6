package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Servers whose programs are files of the host.
@NeedsRoot
class ServerFilesTest extends ServerHomeTest {
    private static final String SERVER = """
            const fs = require('fs');
            const attempt = work => { try { return work() } catch (e) { return e.code } };
            console.log(JSON.stringify({jsonrpc: '2.0', method: 'up', params: {
              said: require('./lib/words').said,
              owner: fs.statSync(__filename).uid,
              written: attempt(() => fs.writeFileSync(__filename, '')),
              added: attempt(() => fs.writeFileSync('/opt/mcp/more', '')),
              host: attempt(() => fs.readFileSync(process.env.SOURCE + '/server.js')),
            }}));
            setInterval(() => {}, 1000);
            """;

    @Test
    void runFromACopyThatTheyCannotChange() throws Exception {
        var source = Files.createDirectories(place.directory().resolve("reports"));
        Files.createDirectories(source.resolve("v1"));
        Files.createSymbolicLink(source.resolve("lib"), Path.of("v1"));
        Files.writeString(source.resolve("server.js"), SERVER);
        words(source, "first");
        var command = new LaunchPlan.Command(List.of("node", "/opt/mcp/server.js"), source);

        assertThat(said(command, source)).isEqualTo("""
                {"said":"first","owner":0,"written":"EACCES","added":"EACCES","host":"ENOENT"}""");
        words(source, "second");
        assertThat(said(command, source)).contains("\"said\":\"second\"");
    }

    private static void words(Path source, String said) throws Exception {
        Files.writeString(source.resolve("v1/words.js"), "exports.said = '%s'".formatted(said));
    }

    private String said(LaunchPlan.Command command, Path source) throws Exception {
        var client = new Client();
        try (var home = open(plan(command, Map.of("SOURCE", source.toString())))) {
            home.connect(client);
            return client.next().tree().path("params").toString();
        }
    }

    @Test
    void aProgramIsFoundByItsName() throws Exception {
        var program = Files.writeString(place.directory().resolve("hello"), """
                #!/bin/sh
                echo '{"jsonrpc":"2.0","method":"hello"}'
                exec sleep 60
                """);
        program.toFile().setExecutable(true);
        var client = new Client();
        try (var home = open(plan(new LaunchPlan.Command(List.of("/opt/mcp/hello"), program), Map.of()))) {
            home.connect(client);
            assertThat(client.next().tree().path("method").asString()).isEqualTo("hello");
        }
    }

    @Test
    void theFieldIsNamedWhoseFilesAreMissing() {
        var command = new LaunchPlan.Command(
                List.of("/opt/mcp/server"), place.directory().resolve("nowhere"));
        try (var home = open(plan(command, Map.of()))) {
            assertThatThrownBy(() -> home.connect(new Client()))
                    .isInstanceOf(CayException.class)
                    .hasMessage("launch.files of mcp.testServer names a path that does not exist on this host");
            assertThat(sides()).isEmpty();
        }
    }
}
