package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// `cay mcp catalog`, as a process, with no daemon anywhere.
@Fast
final class McpCatalogCommandTest {
    private static final JsonMapper JSON = new JsonMapper();

    private record Said(int code, String out, String errors) {
        JsonNode json() {
            return JSON.readTree(out);
        }
    }

    @TempDir
    private Path directory = Path.of("unset");

    @BeforeEach
    void setUp() throws Exception {
        Files.writeString(directory.resolve("mine.yaml"), """
                servers:
                  mine: {title: My own, category: tools, words: [homegrown], launch: {command: [/opt/mcp/mine], files: /opt/my}}
                  ours: {title: Ours, category: tools, launch: {npm: {package: ours, version: 1.0.0, bin: ours}}}
                """);
        Files.writeString(directory.resolve("cay.yaml"), """
                stateDir: %s/state
                runDir: %s/run
                mcp:
                  catalogs: [%s/mine.yaml]
                  servers:
                    github: {launch: npm, env: {PROXY: hunter2-hunter2}}
                    tavily: {disabled: true}
                    slack: {way: image}
                """.formatted(directory, directory, directory));
    }

    @Test
    void listsWhatThereIsInColumnsAndOnlyWhatIsAskedFor() throws Exception {
        var all = cay("list");
        assertThat(all.code()).isZero();
        assertThat(all.out().lines()).hasSize(267);
        assertThat(all.out())
                .containsPattern("(?m)^notion +npm,image +productivity +Notion$")
                .containsPattern("(?m)^mine +command +tools +My own$")
                .containsPattern("(?m)^tavily +off +search +Tavily$")
                .containsPattern("(?m)^slack +image +communication +Slack \\(Archived\\)$")
                .containsPattern("(?m)^ours +npm\\? +tools +Ours$")
                .containsPattern("(?m)^githubOfficial +image,remote +development +GitHub Official$")
                .containsPattern("(?m)^atlassian +image +productivity +Atlassian$");
        assertThat(all.out()
                        .lines()
                        .map(line -> line.replaceFirst("^(\\S+ +)\\S.*", "$1").length()))
                .as("where the second column begins")
                .containsOnly(29);
        var some = cay("list", "--category", "development", "--launchable", "-o", "json")
                .json();
        assertThat(some.valueStream().map(server -> server.path("key").asString()))
                .contains("github", "filesystem", "gitmcp", "githubOfficial", "gitlab")
                .doesNotContain("notion");
        assertThat(cay("list", "--launchable").out()).doesNotContainPattern("(?m)^(ours|tavily) ");
        assertThat(some.valueStream())
                .allMatch(server -> server.path("launchable").booleanValue());
        assertThat(cay("list", "--category", "serch").errors())
                .isEqualTo("cay: there is no category serch; did you mean search?\n");
    }

    @Test
    void showsOneServerForPeopleAndForPrograms() throws Exception {
        var shown = cay("show", "notion");
        assertThat(shown.code()).isZero();
        assertThat(shown.out().lines())
                .contains(
                        "start     npm, else image",
                        "npm       @notionhq/notion-mcp-server 2.5.2",
                        "          needs its package, installed here or from the registry of the host's npm",
                        "image     mcp/notion",
                        "          needs its image, pulled here or from a registry",
                        "  internalIntegrationToken secret  string   required INTERNAL_INTEGRATION_TOKEN",
                        "example   mcp: { notion: { internalIntegrationToken: '...' } }");
        var github = cay("show", "github");
        assertThat(github.out())
                .contains("start     npm, as mcp.servers.github says")
                .doesNotContain("hunter2");
        assertThat(cay("show", "sentry").out().lines())
                .containsSubsequence(
                        "image     mcp/sentry",
                        "npm       @sentry/mcp-server 0.39.0",
                        "          sets SENTRY_ACCESS_TOKEN, SENTRY_AUTH_TOKEN");
        var stripe = cay("show", "stripe", "-o", "json").json();
        assertThat(stripe.path("ways").toString()).isEqualTo("[\"image\",\"remote\",\"npm\"]");
        assertThat(stripe.at("/launch/remote/see").asString()).isEqualTo("https://docs.stripe.com/mcp");
        assertThat(stripe.at("/launch/npm/hosts/0").asString()).isEqualTo("mcp.stripe.com:443");
        var json = cay("show", "atlassian", "--output", "json").json();
        assertThat(json.at("/launch/image/name").asString()).isEqualTo("mcp/atlassian");
        assertThat(json.at("/options/0/env").asString()).isEqualTo("CONFLUENCE_API_TOKEN");
        assertThat(json.at("/anyOf/1/0").asString()).isEqualTo("jiraUrl");
        assertThat(cay("show", "mine").out()).contains("command   /opt/mcp/mine, with /opt/my");
        assertThat(cay("show", "mine", "-o", "json")
                        .json()
                        .at("/launch/command/files")
                        .asString())
                .isEqualTo("/opt/my");
        var unknown = cay("show", "tavly");
        assertThat(unknown.code()).isEqualTo(1);
        assertThat(unknown.errors()).isEqualTo("cay: mcp.tavly is not in the catalog; did you mean tavily?\n");
    }

    @Test
    void findsByWords() throws Exception {
        assertThat(cay("search", "Jira").out()).startsWith("atlassian ");
        assertThat(cay("search", "homegrown", "-o", "json").json().at("/0/key").asString())
                .isEqualTo("mine");
        var nothing = cay("search", "zzzzzzzzzz");
        assertThat(nothing.code()).isEqualTo(1);
        assertThat(nothing.errors()).startsWith("cay: no server is about that");
    }

    @Test
    void aSlipInAFileOfTheOperatorsIsOneSentence() throws Exception {
        Files.writeString(directory.resolve("mine.yaml"), "servers: {mine: {titel: x, launch: {image: {name: x}}}}");
        var said = cay("list");
        assertThat(said.code()).isEqualTo(1);
        assertThat(said.errors())
                .contains("cay: %s/mine.yaml: servers.mine.titel is not a field; did you mean title?\n"
                        .formatted(directory))
                .doesNotContain("\tat ");
    }

    private Said cay(String... words) throws Exception {
        var arguments = new String[words.length + 2];
        arguments[0] = "mcp";
        arguments[1] = "catalog";
        System.arraycopy(words, 0, arguments, 2, words.length);
        Path out = directory.resolve("out");
        Path errors = directory.resolve("errors");
        var process = new ProcessBuilder(MainProcess.command(directory, arguments))
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
}
