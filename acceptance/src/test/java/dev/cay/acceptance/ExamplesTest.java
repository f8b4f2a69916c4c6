package dev.cay.acceptance;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.OwnJava;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// What the documentation shows people is what they get.
@ExtendWith(TestPlatform.class)
@Timeout(3000)
@NeedsRoot
final class ExamplesTest {
    private static final Path DOCS = Path.of("../docs");
    private static final Pattern BLOCK = Pattern.compile("```js\n(.*?)```", Pattern.DOTALL);
    private static final Pattern EXPECTED = Pattern.compile("console\\.log\\(.*\\) // (.*)");
    private static final byte[] PNG = {(byte) 0x89, 'P', 'N', 'G'};

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    /// The page's pieces are one program, and its comments say what that prints. The picture it draws can take
    /// the place of the one in the page.
    @Test
    void thePageOfTheInterpreterSaysWhatIsPrinted(OwnCay platform) throws Exception {
        String page = Files.readString(DOCS.resolve("interpreter.md"));
        String program =
                BLOCK.matcher(page).results().map(block -> block.group(1)).collect(Collectors.joining("\n"));
        var picture = Path.of("target/chart.png").toAbsolutePath();
        var source = program
                + "\n;(await import('node:fs')).writeFileSync('%s', Buffer.from(png, 'base64'))\n".formatted(picture);
        String printed = run(platform, Files.writeString(directory.resolve("page.mjs"), source), Map.of());
        var expected =
                EXPECTED.matcher(program).results().map(found -> found.group(1)).toList();
        assertThat(expected).hasSizeGreaterThan(3);
        assertThat(printed.lines()).containsSubsequence(expected).contains("line 0", "line 1", "line 2");
        assertThat(Files.readAllBytes(picture)).startsWith(PNG);
        assertThat(Files.readAllBytes(DOCS.resolve("images/chart.png"))).startsWith(PNG);
    }

    @Test
    void thePageOfTemplatesSaysWhatIsPrinted(OwnCay platform) throws Exception {
        runPage(platform, "templates.md", 2);
    }

    @Test
    void thePageOfSecretsSaysWhatIsPrinted(OwnCay platform) throws Exception {
        assertThat(runPage(platform, "secrets.md", 4)).doesNotContain("sk-1234567890");
    }

    @Test
    void thePageOfNetworksSaysWhatIsPrinted(OwnCay platform) throws Exception {
        runPage(platform, "network.md", 3);
    }

    @Test
    void thePageOfVolumesSaysWhatIsPrinted(OwnCay platform) throws Exception {
        runPage(platform, "volumes.md", 4);
    }

    /// Runs the program of a page, which prints what its comments say.
    ///
    /// @param lines how many comments say so
    private String runPage(OwnCay platform, String name, int lines) throws Exception {
        String program = BLOCK.matcher(Files.readString(DOCS.resolve(name)))
                .results()
                .map(block -> block.group(1))
                .collect(Collectors.joining("\n"));
        String printed = run(platform, Files.writeString(directory.resolve("page.mjs"), program), Map.of());
        var expected =
                EXPECTED.matcher(program).results().map(found -> found.group(1)).toList();
        assertThat(expected).hasSize(lines);
        assertThat(printed.lines()).containsSubsequence(expected);
        return printed;
    }

    @Test
    void aTableGoesInAndAChartComesOut(OwnCay platform) throws Exception {
        String printed = run(platform, copy("data-analysis.mjs"), Map.of());
        assertThat(printed)
                .contains("columns: month, north, south", "total: 970", "line chart \"Sales\" with north and south");
        assertThat(Files.readAllBytes(directory.resolve("sales.png"))).startsWith(PNG);
    }

    @Test
    void everyUserFindsTheirOwnVariables(OwnCay platform) throws Exception {
        assertThat(run(platform, copy("sandbox-per-user.mjs"), Map.of())).contains("ada: visit 2", "grace: visit 2");
    }

    /// The model is a script: it asks for code, and its answer is what it was told came of it.
    @Test
    void aModelRunsCodeAndGoesOnWithWhatCameOfIt(OwnCay platform) throws Exception {
        var asked = new ArrayList<String>();
        var model = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        model.createContext("/", exchange -> {
            String request = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
            asked.add(request);
            byte[] answer = (asked.size() == 1
                            ? """
                              {"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "t1",
                               "name": "run_python", "input": {"code": "import sympy; sympy.prime(20)"}}]}"""
                            : """
                              {"stop_reason": "end_turn", "content": [{"type": "text", "text": "It is %s."}]}""".formatted(request.contains("\"content\":\"71\"") ? "71" : "unknown"))
                    .getBytes(UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        model.start();
        try {
            var url = "http://127.0.0.1:%d/v1/messages"
                    .formatted(model.getAddress().getPort());
            assertThat(run(platform, copy("tool-loop.mjs"), Map.of("MODEL_URL", url)))
                    .contains("It is 71.");
        } finally {
            model.stop(0);
        }
        assertThat(asked).hasSize(2);
    }

    /// And it is what the page about Java shows.
    @Test
    void aJavaProgramRunsCommandsAndCode(OwnCay platform) throws Exception {
        var program = DOCS.resolve("examples/Hello.java");
        var shown = Pattern.compile("// @start .*?\n(.*)    // @end", Pattern.DOTALL)
                .matcher(Files.readString(program));
        assertThat(shown.find()).isTrue();
        assertThat(Files.readString(DOCS.resolve("java.md")))
                .contains("```java\n" + shown.group(1).indent(-4) + "```");
        platform.awaitTemplate("code-interpreter-v1");
        var output = directory.resolve("output.txt");
        var java = new ProcessBuilder(
                        OwnJava.command(List.of(), System.getProperty("java.class.path"), program.toString()))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        java.environment().putAll(platform.environment(OwnCay.Mode.DOMAIN));
        assertThat(ended(java.start(), output)).isEqualTo("Grace\nAda\n1\n2\n3\n10\n");
    }

    private Path copy(String example) throws IOException {
        return Files.copy(DOCS.resolve("examples").resolve(example), directory.resolve(example));
    }

    private String run(OwnCay platform, Path program, Map<String, String> more) throws Exception {
        platform.awaitTemplate("code-interpreter-v1");
        var client = NpmClient.install("@e2b/code-interpreter", "2.8.0");
        Files.createSymbolicLink(
                directory.resolve("node_modules"), client.directory().resolve("node_modules"));
        var environment = new HashMap<>(platform.environment(OwnCay.Mode.URL));
        environment.putAll(more);
        var output = directory.resolve("output.txt");
        var process = client.program(
                        environment, List.of("node", program.toString()).toArray(String[]::new))
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        return ended(process, output);
    }

    private static String ended(Process process, Path output) throws Exception {
        try {
            assertThat(process.waitFor(240, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        String printed = Files.readString(output);
        assertThat(process.exitValue()).as(printed).isZero();
        return printed;
    }
}
