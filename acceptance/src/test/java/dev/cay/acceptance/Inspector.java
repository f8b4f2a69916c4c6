package dev.cay.acceptance;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.life.Trees;
import dev.cay.platform.NpmClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// MCP's inspector on a command line, which says hello anew for each question.
///
/// @param era `legacy` or `modern`
record Inspector(String url, String token, String era) {
    private static final String PROGRAM =
            "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";

    /// What all of a kind are called.
    List<String> names(String kind) throws IOException, InterruptedException {
        return ask(kind + "/list")
                .path(kind)
                .valueStream()
                .map(one -> one.path("name").asString(""))
                .toList();
    }

    /// The result of a method.
    JsonNode ask(String method, String... options) throws IOException, InterruptedException {
        var inspector = NpmClient.install("@modelcontextprotocol/inspector", "2.12.0");
        var command = new ArrayList<>(List.of(NodeProgram.newerNode().toString()));
        command.addAll(List.of(inspector.directory().resolve(PROGRAM).toString(), "--cli", url));
        command.addAll(List.of("--transport", "http", "--protocol-era", era));
        command.addAll(List.of("--header", "Authorization: Bearer " + token, "--method", method));
        command.addAll(List.of(options));
        var home = Files.createTempDirectory("cay-inspector");
        var answer = home.resolve("answer");
        try {
            var builder = new ProcessBuilder(command).redirectOutput(answer.toFile());
            // It keeps a file of servers at home.
            builder.environment().put("HOME", home.toString());
            var process =
                    builder.redirectError(home.resolve("complaint").toFile()).start();
            boolean ended = process.waitFor(2, MINUTES);
            process.destroyForcibly();
            String complaint = Files.readString(home.resolve("complaint"), StandardCharsets.UTF_8);
            assertThat(ended).as("ended within two minutes: " + complaint).isTrue();
            assertThat(process.exitValue()).as(complaint).isZero();
            return JsonMapper.shared().readTree(answer.toFile());
        } finally {
            Trees.delete(home);
        }
    }
}
