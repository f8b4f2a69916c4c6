package dev.cay.node.mcp.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

@Fast
final class LaunchPlanTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String SECRET = "hunter2-hunter2";

    @TempDir
    private Path directory = Path.of("unset");

    private static Catalog usual = Catalog.builtIn();
    private Catalog catalog = usual;

    @BeforeAll
    static void letImagesBeStartedOtherwise(@TempDir Path directory) throws Exception {
        usual = load(directory, """
                mcp:
                  servers:
                    githubOfficial: {launch: {command: [github-mcp-server, stdio]}}
                    atlassian: {launch: {command: [mcp-atlassian]}}
                    sentry: {launch: {command: [mcp-server-sentry, --auth-token, "${env.SENTRY_AUTH_TOKEN}"]}}
                    schemacrawlerAi: {launch: {command: [schemacrawler]}}
                    aks: {launch: {command: [aks-mcp, "--access-level=${cfg.accessLevel}"]}}
                    arm: {launch: {command: [arm]}}
                    okta: {launch: {command: [okta]}}
                    redis: {launch: {command: [redis-mcp]}}
                    kafkaSchemaReg: {launch: {command: [kafka]}}
                """);
    }

    private void override(String yaml) throws Exception {
        catalog = load(directory, yaml);
    }

    private static Catalog load(Path directory, String yaml) throws Exception {
        return Catalog.load(List.of(), Files.writeString(directory.resolve("cay.yaml"), yaml));
    }

    /// The first way in which it is started.
    private LaunchPlan plan(String key, Object options) {
        return server(key, options).ways().getFirst();
    }

    private ServerPlan server(String key, Object options) {
        return catalog.plan(key, JSON.valueToTree(options));
    }

    private CayException refusal(String key, Object options) {
        var thrown = catchThrowableOfType(CayException.class, () -> plan(key, options));
        assertThat(thrown).isNotNull();
        assertThat(thrown.userMessage()).doesNotContain(SECRET);
        assertThat(thrown.getCause()).isNull();
        return thrown;
    }

    @Test
    void notionGetsItsTokenInTheHeadersThatItReads() {
        var plan = plan("notion", Map.of("internalIntegrationToken", "ntn_1"));
        assertThat(plan.name()).isEqualTo("notion");
        assertThat(plan.start())
                .isEqualTo(new LaunchPlan.Npm("@notionhq/notion-mcp-server", "2.5.2", "notion-mcp-server", List.of()));
        assertThat(plan.environment())
                .containsExactly(
                        Map.entry("INTERNAL_INTEGRATION_TOKEN", "ntn_1"),
                        Map.entry(
                                "OPENAPI_MCP_HEADERS",
                                "{\"Authorization\": \"Bearer ntn_1\", \"Notion-Version\": \"2022-06-28\"}"));
        assertThat(plan.secretInArguments()).isFalse();
    }

    @Test
    void githubIsStartedAsTheOperatorSays() {
        var plan = plan("githubOfficial", Map.of("githubPersonalAccessToken", "ghp_1"));
        assertThat(plan.name()).isEqualTo("github-official");
        assertThat(plan.start()).isEqualTo(new LaunchPlan.Command(List.of("github-mcp-server", "stdio")));
        assertThat(plan.environment()).containsExactly(Map.entry("GITHUB_PERSONAL_ACCESS_TOKEN", "ghp_1"));
        assertThat(plan.network().allow())
                .containsExactly("api.github.com:443", "github.com:443", "raw.githubusercontent.com:443");
    }

    @ParameterizedTest
    @ValueSource(strings = {"apiKey", "TAVILY_API_KEY", "tavilyApiKey"})
    void anOptionMayBeGivenByItsVariable(String name) {
        var plan = server("tavily", Map.of(name, "tvly-1"));
        assertThat(plan.ways())
                .allSatisfy(
                        way -> assertThat(way.environment()).containsExactly(Map.entry("TAVILY_API_KEY", "tvly-1")));
        assertThat(plan.warnings()).isEmpty();
    }

    @Test
    void atlassianNeedsOneOfItsTwoProducts() {
        var plan = plan("atlassian", Map.of("jiraUrl", "https://j.example", "jiraApiToken", "j1", "jiraUsername", ""));
        assertThat(plan.environment())
                .containsExactly(Map.entry("JIRA_API_TOKEN", "j1"), Map.entry("JIRA_URL", "https://j.example"));
        assertThat(refusal("atlassian", Map.of("jiraApiToken", SECRET)).userMessage())
                .isEqualTo("missing: mcp.atlassian.confluenceUrl or mcp.atlassian.jiraUrl");
    }

    @Test
    void remoteOnesAreCalledWithHeadersAndHaveNoVariables() {
        var plan = plan("rube", Map.of("apiKey", "r1"));
        assertThat(plan.start())
                .isEqualTo(new LaunchPlan.Remote(
                        URI.create("https://rube.app/mcp"),
                        ServerLaunch.Transport.STREAMABLE_HTTP,
                        Map.of("Authorization", "Bearer r1")));
        assertThat(plan.environment()).isEmpty();
    }

    @Test
    void listsBecomeArgumentsAndVolumes() {
        var plan = plan("filesystem", Map.of("paths", List.of("/data", "/home/user")));
        assertThat(plan.start())
                .isInstanceOfSatisfying(
                        LaunchPlan.Npm.class,
                        npm -> assertThat(npm.arguments()).containsExactly("/data", "/home/user"));
        assertThat(plan.volumes())
                .containsExactly(
                        new LaunchPlan.Volume("/data", "/data", false),
                        new LaunchPlan.Volume("/home/user", "/home/user", false));
        assertThat(plan.network().disabled()).isTrue();
    }

    @Test
    void whatIsEmptyIsLeftOut() {
        var plan =
                plan("aks", Map.of("azureDir", "", "kubeconfig", "/k", "accessLevel", "readonly", "containerUser", ""));
        assertThat(plan.volumes()).containsExactly(new LaunchPlan.Volume("/k", "/home/mcp/.kube/config", false));
        assertThat(plan.user()).isNull();
        var arm = plan("arm", Map.of("workspacePath", "/w", "sshPrivateKeyPath", "/s"));
        assertThat(arm.volumes())
                .containsExactly(
                        new LaunchPlan.Volume("/w", "/workspace", false),
                        new LaunchPlan.Volume("/s", "/run/keys/ssh-key.pem", true));
    }

    @Test
    void aSecretOnTheCommandLineIsToldAndNotPrinted() {
        var plan = plan("sentry", Map.of("authToken", SECRET));
        assertThat(plan.start())
                .isEqualTo(new LaunchPlan.Command(List.of("mcp-server-sentry", "--auth-token", SECRET)));
        assertThat(plan.secretInArguments()).isTrue();
    }

    @Test
    void everyMissingOptionIsNamedAtOnce() {
        var thrown = refusal("schemacrawlerAi", Map.of());
        assertThat(thrown.kind()).isEqualTo(ErrorKind.INVALID_ARGUMENT);
        assertThat(thrown.userMessage())
                .isEqualTo("missing: mcp.schemacrawlerAi.generalInfoLevel, mcp.schemacrawlerAi.volumeHostShare,"
                        + " mcp.schemacrawlerAi.urlConnectionJdbcUrl or mcp.schemacrawlerAi.serverConnectionServer");
        assertThat(refusal("notion", Map.of("internalIntegrationToken", "")).userMessage())
                .isEqualTo("missing: mcp.notion.internalIntegrationToken");
    }

    @Test
    void whatIsWrongAndWhatIsMissingAreToldTogether() {
        assertThat(refusal("schemacrawlerAi", Map.of("serverConnectionPort", SECRET, "generalInfoLevel", List.of()))
                        .userMessage()
                        .lines())
                .containsExactlyInAnyOrder(
                        "mcp.schemacrawlerAi.serverConnectionPort must be a whole number",
                        "mcp.schemacrawlerAi.generalInfoLevel must be a text",
                        "missing: mcp.schemacrawlerAi.volumeHostShare, mcp.schemacrawlerAi.urlConnectionJdbcUrl or"
                                + " mcp.schemacrawlerAi.serverConnectionServer");
    }

    @Test
    void anUnknownOptionIsIgnoredButTold() {
        var plan = server("tavily", Map.of("apiKey", "x", "apiKeys", SECRET, "colour", SECRET));
        assertThat(plan.warnings())
                .containsExactlyInAnyOrder(
                        "mcp.tavily.apiKeys is no option of tavily and was ignored; did you mean apiKey?",
                        "mcp.tavily.colour is no option of tavily and was ignored;"
                                + " `cay mcp catalog show tavily` lists what there is");
        assertThat(refusal("tavily", Map.of("apiKye", SECRET)).userMessage().lines())
                .containsExactly(
                        "missing: mcp.tavily.apiKey",
                        "mcp.tavily.apiKye is no option of tavily and was ignored; did you mean apiKey?");
    }

    @ParameterizedTest
    @ValueSource(strings = {SECRET + "-0123456789-0123456789", "a\nb", "x\0", ""})
    void aNameThatMayBeASecretIsNotRepeated(String name) {
        assertThat(server("tavily", Map.of("apiKey", "x", name, "y")).warnings())
                .singleElement()
                .asString()
                .startsWith("a name in mcp.tavily is no option");
    }

    @ParameterizedTest(name = "{0}.{1} = {2}")
    @CsvSource(
            delimiter = ';',
            value = {
                "tavily; apiKey; {\"a\": 1}; mcp.tavily.apiKey must be a text",
                "tavily; apiKey; [\"hunter2-hunter2\"]; mcp.tavily.apiKey must be a text",
                "redis; port; \"hunter2-hunter2\"; mcp.redis.port must be a whole number",
                "redis; port; 1.5; mcp.redis.port must be a whole number",
                "redis; ssl; \"hunter2-hunter2\"; mcp.redis.ssl must be true or false",
                "redis; ssl; 1; mcp.redis.ssl must be true or false",
                "filesystem; paths; \"/data\"; mcp.filesystem.paths must be a list of texts",
                "filesystem; paths; [1]; mcp.filesystem.paths must be a list of texts",
                "kafkaSchemaReg; viewonly; \"hunter2-hunter2\"; mcp.kafkaSchemaReg.viewonly must be one of true, false",
                "tavily; apiKey; \"a\\u0000b\"; mcp.tavily.apiKey has a NUL character, which no program can be given"
            })
    void aValueThatDoesNotFitIsRefusedByName(String key, String option, String json, String message) {
        assertThat(refusal(key, Map.of(option, JSON.readTree(json)))
                        .userMessage()
                        .lines())
                .startsWith(message);
    }

    @Test
    void numbersMayComeAsTextsAndTheOtherWayAround() {
        var given = JSON.readTree("""
                {"host": "h", "port": "6379", "username": 7, "pwd": "p", "ssl": "true", "clusterMode": false,
                 "caPath": "", "sslKeyfile": "", "sslCertfile": "", "certReqs": "", "caCerts": "", "password": "x"}""");
        assertThat(plan("redis", given).environment())
                .containsEntry("REDIS_PORT", "6379")
                .containsEntry("REDIS_SSL", "true")
                .containsEntry("REDIS_CLUSTER_MODE", "false")
                .containsEntry("REDIS_USERNAME", "7")
                .doesNotContainKey("REDIS_CA_PATH");
    }

    @Test
    void theSameOptionTwiceIsRefused() {
        assertThat(refusal("tavily", Map.of("apiKey", SECRET, "TAVILY_API_KEY", SECRET + "x"))
                        .userMessage())
                .startsWith("mcp.tavily.apiKey is given twice, also as ");
        assertThat(refusal("tavily", SECRET).userMessage())
                .isEqualTo("mcp.tavily must be an object of options, like {}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-x", "--help", "-"})
    void whatWouldBeReadAsAFlagIsRefused(String value) {
        assertThat(refusal("sentry", Map.of("authToken", value)).userMessage())
                .isEqualTo("mcp.sentry.authToken begins with -, which would be read as a flag");
        var user = Map.of("azureDir", "/a", "kubeconfig", "/k", "accessLevel", "x", "containerUser", value);
        assertThat(refusal("aks", user).userMessage())
                .isEqualTo("mcp.aks.containerUser begins with -, which would be read as a flag");
        var inside = Map.of("azureDir", "/a", "kubeconfig", "/k", "accessLevel", value);
        assertThat(plan("aks", inside).start())
                .isEqualTo(new LaunchPlan.Command(List.of("aks-mcp", "--access-level=" + value)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/a:/etc", "relative", "-v", "/a/../etc", "/a\nb", "..", "/.."})
    void aVolumeTakesPathsOnly(String path) {
        var given = Map.of("azureDir", path, "kubeconfig", "/k", "accessLevel", "x");
        assertThat(refusal("aks", given).userMessage())
                .isEqualTo("mcp.aks.azureDir must be an absolute path without .. and colons");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\nX-Evil: 1", "a\r\nb", "a\u0001b"})
    void headersTakeNoLineBreaks(String value) {
        assertThat(refusal("rube", Map.of("apiKey", value)).userMessage())
                .isEqualTo("mcp.rube.apiKey has a line break or another character that no header can have");
    }

    @Test
    void variablesTakeLineBreaksAsKeysHaveThem() {
        var plan = plan("tavily", Map.of("apiKey", "-----BEGIN\nKEY-----\n"));
        assertThat(plan.environment()).containsEntry("TAVILY_API_KEY", "-----BEGIN\nKEY-----\n");
    }

    @Test
    void whatNoProgramCanBeGivenIsRefused() {
        assertThat(refusal("tavily", Map.of("apiKey", "x".repeat(120_001))).userMessage())
                .isEqualTo("mcp.tavily.apiKey is longer than 120000 bytes");
        assertThat(refusal("notion", Map.of("internalIntegrationToken", "x".repeat(120_000)))
                        .userMessage())
                .isEqualTo("the options of mcp.notion are together longer than a program can be given; shorten them");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "${env.INTERNAL_INTEGRATION_TOKEN}",
                "$INTERNAL_INTEGRATION_TOKEN",
                "${cfg.x|or:y}",
                "$$",
                "$HOME"
            })
    void aValueIsNeverEvaluatedAgain(String value) {
        assertThat(plan("notion", Map.of("internalIntegrationToken", value)).environment())
                .containsEntry("INTERNAL_INTEGRATION_TOKEN", value)
                .containsEntry(
                        "OPENAPI_MCP_HEADERS",
                        "{\"Authorization\": \"Bearer " + value + "\", \"Notion-Version\": \"2022-06-28\"}");
        assertThat(plan("rube", Map.of("apiKey", value)).start())
                .isInstanceOfSatisfying(
                        LaunchPlan.Remote.class,
                        remote -> assertThat(remote.headers()).containsEntry("Authorization", "Bearer " + value));
    }

    @Test
    void noPlanPrintsAValue() throws Exception {
        override("""
                mcp:
                  servers:
                    tavily: {env: {PROXY: "hunter2-hunter2"}}
                    sentry: {launch: {command: [sentry, "hunter2-hunter2"]}}
                    rube: {launch: {remote: {url: "https://x.example/?k=hunter2-hunter2", headers: {A: hunter2-hunter2}}}}
                """);
        for (String key : List.of("tavily", "sentry", "rube")) {
            var server = catalog.require(key);
            var plan = server(key, Map.of(server.options().keySet().iterator().next(), SECRET));
            assertThat(plan).asString().doesNotContain(SECRET);
            assertThat(catalog.overrideOf(server)).asString().doesNotContain(SECRET);
            assertThat(catalog.ways(server).toString()).doesNotContain(SECRET);
        }
        assertThat(server("filesystem", Map.of("paths", List.of("/" + SECRET))))
                .asString()
                .doesNotContain(SECRET);
    }

    @Test
    void theOperatorsVariablesComeLastAndMayReferToOthers() throws Exception {
        override("""
                mcp:
                  servers:
                    notion:
                      env:
                        NOTION_TOKEN: "${cfg.internalIntegrationToken}"
                        BASE_URL: http://127.0.0.1:9
                        OPENAPI_MCP_HEADERS: ""
                      tools: {allow: ["API-*"], deny: [API-delete-a-block]}
                """);
        var plan = server("notion", Map.of("internalIntegrationToken", "ntn_1"));
        assertThat(plan.ways().getFirst().environment())
                .containsExactly(
                        Map.entry("INTERNAL_INTEGRATION_TOKEN", "ntn_1"),
                        Map.entry("NOTION_TOKEN", "ntn_1"),
                        Map.entry("BASE_URL", "http://127.0.0.1:9"));
        assertThat(plan.tools().permits("API-post-search")).isTrue();
        assertThat(plan.tools().permits("API-delete-a-block")).isFalse();
        assertThat(plan.tools().permits("other")).isFalse();
    }

    private static final String TWO_WAYS = """
            servers:
              wiki:
                title: Wiki
                category: tools
                launch:
                  npm:
                    package: wiki-mcp
                    version: 1.2.3
                    bin: wiki
                    confirmed: true
                    env: {WIKI_TOKEN: '', ACCESS_TOKEN: '${cfg.token}'}
                    arguments: [--site, '${cfg.site}']
                    hosts: ['api.wiki.example:443']
                  image: {name: acme/wiki}
                  remote:
                    url: https://mcp.wiki.example/${cfg.site}
                    headers: {Authorization: 'Bearer ${cfg.token}'}
                options:
                  token: {kind: secret, env: WIKI_TOKEN, required: true}
                  site: {kind: setting}
                arguments: ['--from=${cfg.site}']
                network: {allow: ['wiki.example:443']}
            """;

    @Test
    void eachWayHasItsOwnVariablesArgumentsAndHosts() throws Exception {
        catalog = Catalog.load(List.of(Files.writeString(directory.resolve("servers.yaml"), TWO_WAYS)), null);
        var ways = server("wiki", Map.of("token", "t1", "site", "main")).ways();
        assertThat(ways)
                .extracting(LaunchPlan::way)
                .containsExactly("npm wiki-mcp 1.2.3", "image acme/wiki", "remote mcp.wiki.example");
        assertThat(ways.get(0).environment()).containsExactly(Map.entry("ACCESS_TOKEN", "t1"));
        assertThat(((LaunchPlan.Npm) ways.get(0).start()).arguments()).containsExactly("--site", "main");
        assertThat(ways.get(0).network().allow()).containsExactly("api.wiki.example:443");
        assertThat(ways.get(1).environment()).containsExactly(Map.entry("WIKI_TOKEN", "t1"));
        assertThat(((LaunchPlan.Image) ways.get(1).start()).arguments()).containsExactly("--from=main");
        assertThat(ways.get(1).network().allow()).containsExactly("wiki.example:443");
        assertThat(ways.get(2).environment()).isEmpty();
        assertThat(ways.get(2).network().allow()).containsExactly("mcp.wiki.example:443");
        assertThat(ways).allSatisfy(way -> assertThat(way.name()).isEqualTo("wiki"));
    }

    @Test
    void theOperatorTakesOneWayAlone() throws Exception {
        var servers = Files.writeString(directory.resolve("servers.yaml"), TWO_WAYS.replace("confirmed: true", ""));
        for (String word : List.of("npm", "image", "remote")) {
            var config = Files.writeString(
                    directory.resolve("cay.yaml"), "mcp: {servers: {wiki: {way: %s}}}".formatted(word));
            catalog = Catalog.load(List.of(servers), config);
            assertThat(server("wiki", Map.of("token", "t1")).ways())
                    .singleElement()
                    .satisfies(way -> assertThat(way.start().word()).isEqualTo(word));
        }
        catalog = Catalog.load(List.of(servers), null);
        assertThat(server("wiki", Map.of("token", "t1")).ways())
                .as("without a package that nobody confirmed")
                .extracting(way -> way.start().word())
                .containsExactly("image", "remote");
    }

    @Test
    void theOperatorPinsTheDigestOfAnImage() throws Exception {
        String name = "mcp/notion@sha256:" + "ab".repeat(32);
        override("mcp: {servers: {notion: {launch: {image: {name: '%s'}}}}}".formatted(name));
        assertThat(server("notion", Map.of("internalIntegrationToken", "n")).ways())
                .singleElement()
                .satisfies(way -> assertThat(way.way()).isEqualTo("image " + name));
    }
}
