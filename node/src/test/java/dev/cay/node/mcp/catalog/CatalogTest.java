package dev.cay.node.mcp.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.cay.config.ConfigLoader;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/// Looking things up, and files of the operator's own.
@Fast
final class CatalogTest {
    private static final Catalog BUILT_IN = Catalog.builtIn();

    private static final String ENTRY = """
            servers:
              mine:
                title: Mine
                category: tools
                launch: {command: [my-server, "--root=${cfg.root}", "$MODE"]}
                options:
                  root: {kind: setting, required: true}
                  token: {kind: secret, env: MY_TOKEN}
                env: {MODE: "${cfg.root|or:none}"}
            """;

    @TempDir
    private Path directory = Path.of("unset");

    @ParameterizedTest(name = "{0} finds {1}")
    @CsvSource({
        "jira, atlassian",
        "Jira, atlassian",
        "confluence, atlassian",
        "jira ticket, atlassian",
        "notion, notion",
        "githubOfficial, githubOfficial",
        "github official, githubOfficial",
        "pull request, github",
        "k8s, aks",
        "postgres, cockroachdb",
        "s3 object, tigris",
        "payments stripe, stripe",
        "hn, hackernews",
        "confluense, atlassian",
        "kuberentes, kubernetes"
    })
    void findsFirstWhatIsMeant(String words, String key) {
        assertThat(BUILT_IN.search(List.of(words.split(" "))).getFirst().key()).isEqualTo(key);
    }

    @Test
    void whoMatchesAllWordsIsAloneAndNonsenseFindsNothing() {
        assertThat(BUILT_IN.search(List.of("graph", "cypher")))
                .extracting(CatalogServer::key)
                .containsExactly("neo4jCypher");
        assertThat(BUILT_IN.search(List.of("zzzzzzzzzz"))).isEmpty();
        assertThat(BUILT_IN.search(List.of())).isEmpty();
        assertThat(BUILT_IN.search(List.of("", "-", "\0", "${x}"))).isEmpty();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "Notion, did you mean notion",
        "tavly, did you mean tavily",
        "githubofficial, did you mean githubOfficial",
        "github-official, did you mean githubOfficial",
        "jira, did you mean atlassian",
        "qqqqqqqqqqqq, `cay mcp catalog search` finds"
    })
    void anUnknownKeyIsRefusedWithTheNearest(String key, String message) {
        var thrown = thrown(() -> BUILT_IN.require(key));
        assertThat(thrown.kind()).isEqualTo(ErrorKind.INVALID_ARGUMENT);
        assertThat(thrown.userMessage()).startsWith("mcp." + key + " is not in the catalog; " + message);
    }

    @Test
    void aKeyThatIsNoNameIsNotRepeated() {
        assertThat(thrown(() -> BUILT_IN.require("a\nb")).userMessage()).startsWith("a key of mcp is not");
        assertThat(thrown(() -> BUILT_IN.require("x".repeat(100_000))).userMessage())
                .hasSizeLessThan(200);
    }

    @Test
    void laterFilesWin() throws Exception {
        var first = write("one.yaml", ENTRY);
        var second = write("two.yaml", ENTRY.replace("Mine", "Mine too") + """
                  notion:
                    title: Our Notion
                    category: tools
                    launch: {remote: {url: "https://mcp.example/notion", transport: sse}}
                """);
        var catalog = Catalog.load(List.of(first, second), null);
        assertThat(catalog.servers()).hasSize(266);
        assertThat(catalog.require("mine").title()).isEqualTo("Mine too");
        assertThat(catalog.require("mine").name()).isEqualTo("mine");
        assertThat(start(catalog, "notion", JsonNodeFactory.instance.objectNode()))
                .isInstanceOf(LaunchPlan.Remote.class);
        var options = JsonNodeFactory.instance.objectNode().put("root", "/r");
        assertThat(start(catalog, "mine", options))
                .isEqualTo(new LaunchPlan.Command(List.of("my-server", "--root=/r", "/r")));
    }

    /// What is replaced in the entry above, by what, and what is said about it.
    @ParameterizedTest(name = "{2}")
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "required # requird # servers.mine.options.root.requird is not a field; did you mean required?",
                "title # titel # servers.mine.titel is not a field; did you mean title?",
                "title # titel # servers.mine.title is missing; it must be what people call it",
                "servers: # server: # server is not a field; did you mean servers?",
                "title: Mine # title: 7 # servers.mine.title must be a text; put it in quotes",
                "kind: secret # kind: hidden # servers.mine.options.token.kind must be secret or setting",
                "required: true # required: yes # servers.mine.options.root.required must be true or false",
                "MY_TOKEN # MY-TOKEN # servers.mine.options.token.env must be the name of a variable",
                "cfg.root} # cfg.rot} # servers.mine.launch refers to cfg.rot, which is not among the options",
                "$MODE # $MODES # servers.mine.launch refers to variable MODES, which is not set before; $$ is a dollar",
                "|or:none # |upper # servers.mine.env.MODE has an unknown filter; there are mount, target, each, first, last, or",
                "[my-server,  # [$MODE,  # servers.mine.launch.command must be a list that begins with a program, whose name is no template",
                "command: [ # commands: [ # servers.mine.launch.commands is not a field; did you mean command?",
                "category: tools # category: [tools] # servers.mine.category must be a text",
                "mine: # mine/x: # servers.mine/x is no key; it takes up to 64 letters, digits, - and _"
            })
    void aSlipInACatalogIsNamedWithFileAndPlace(String text, String instead, String message) throws Exception {
        var file = write("mine.yaml", ENTRY.replace(text, instead));
        assertThat(thrown(() -> Catalog.load(List.of(file), null)).userMessage().lines())
                .contains(file + ": " + message);
    }

    @Test
    void anImageNamesNoHost() throws Exception {
        for (String name : List.of("registry.example/x/y", "localhost:5000/x", "x/../y:t@u", "x/y@sha256:abc")) {
            var file = write("mine.yaml", """
                    servers:
                      mine: {title: M, category: tools, launch: {image: {name: "%s"}}}
                    """.formatted(name));
            assertThat(thrown(() -> Catalog.load(List.of(file), null)).userMessage())
                    .isEqualTo(file
                            + ": servers.mine.launch.image.name must be a name without a host, like owner/name:tag"
                            + " or owner/name@sha256:...");
        }
    }

    @Test
    void whatIsNoCatalogIsRefusedWithoutQuotingIt() throws Exception {
        var twice = write("twice.yaml", "servers:\n  a: {}\n  a: {}\n");
        assertThat(thrown(() -> Catalog.load(List.of(twice), null)).userMessage())
                .startsWith(twice + ":3: not YAML");
        var broken = write("broken.yaml", "servers: {\n token: hunter2\n ]");
        assertThat(thrown(() -> Catalog.load(List.of(broken), null)).userMessage())
                .startsWith(broken + ":")
                .doesNotContain("hunter2");
        var list = write("list.yaml", "[hunter2]");
        assertThat(thrown(() -> Catalog.load(List.of(list), null)).userMessage())
                .isEqualTo(list + ": must hold lines of the form `name: value`");
        var missing = directory.resolve("missing.yaml");
        assertThat(thrown(() -> Catalog.load(List.of(missing), null)).userMessage())
                .isEqualTo(missing + " does not exist; fix mcp.catalogs");
        assertThat(Catalog.load(List.of(write("empty.yaml", "")), null).servers())
                .hasSize(265);
    }

    @ParameterizedTest(name = "{1}")
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "tavly: {} # tavly is not in the catalog; did you mean tavily?",
                "tavily: {lunch: npm} # tavily.lunch is not a field; did you mean launch?",
                "tavily: {launch: pip} # tavily.launch must be npm, or hold remote, command, npm or image",
                "atlassian: {launch: npm} # atlassian.launch is npm, but the entry names no package; write npm: {package, version, bin}",
                "tavily: {launch: {npm: {package: x, version: latest, bin: x}}} # tavily.launch.npm.version must be one version, like 1.2.3",
                "tavily: {launch: {npm: {package: --x, version: 1.0.0, bin: x}}} # tavily.launch.npm.package must be the name of a package, like @scope/name",
                "tavily: {launch: {remote: {url: 'https://x/'}, command: [x]}} # tavily.launch must hold one of remote, command, npm and image",
                "tavily: {launch: {remote: {url: 'ftp://x/'}}} # tavily.launch.remote.url must be an address that begins with https:// or http://",
                "tavily: {launch: {remote: {url: 'https://x/', headers: {'a b': c}}}} # tavily.launch.remote.headers.a b is not the name of a header",
                "tavily: {launch: {command: [x], files: bin/x}} # tavily.launch.files must be an absolute path of this host",
                "tavily: {launch: {npm: {package: x, version: 1.0.0, bin: x}, files: /x}} # tavily.launch.files are for a command, which is missing",
                "tavily: {oauth: {clientId: a, clientSecret: b}} # tavily.oauth.clientSecret needs clientId, and issuer: the authorization server it may be shown to",
                "tavily: {oauth: {issuer: x}} # tavily.oauth.issuer must be an address like https://login.example.org",
                "tavily: {way: pip} # tavily.way must be remote, npm, image or command",
                "tavily: {way: remote} # tavily.way is remote, but the entry has only npm and image",
                "tavily: {way: npm, launch: npm} # tavily.way and launch both say how it is started; keep one",
                "tavily: {launch: {npm: {package: x, version: 1.0.0, bin: x, hosts: [x]}}} # tavily.launch.npm.hosts must be a list of host:port",
                "tavily: {launch: {npm: {package: x, version: 1.0.0, bin: x, env: {A: $B}}}} # tavily.launch.npm.env.A refers to variable B, which is not set before; $$ is a dollar",
                "tavily: {launch: {image: {name: x, tag: y}}} # tavily.launch.image.tag is not a field; there are name, registry, port, env, arguments, hosts, see",
                "tavily: {env: {A: 1}} # tavily.env.A must be a text; put it in quotes",
                "tavily: {env: {A: $B}} # tavily.env.A refers to variable B, which is not set before; $$ is a dollar",
                "tavily: {disabled: 1} # tavily.disabled must be true or false",
                "tavily: {tools: {alow: [x]}} # tavily.tools.alow is not a field; did you mean allow?"
            })
    void aSlipInAnOverrideIsNamedWithFileAndPlace(String yaml, String message) throws Exception {
        var file = write("cay.yaml", "http: {port: 4000}\nmcp:\n  servers:\n    " + yaml + "\n");
        assertThat(thrown(() -> Catalog.load(List.of(), file)).userMessage().lines())
                .contains(file + ": mcp.servers." + message);
    }

    @Test
    void theExamplesOfTheDocumentAreValid() throws Exception {
        var blocks = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("../docs/mcp.md")))
                .results()
                .map(block -> block.group(1))
                .toList();
        assertThat(blocks).hasSize(7);
        for (var block : blocks) {
            if (block.startsWith("# /etc/cay/cay.yaml")) {
                ConfigLoader.load(write("cay.yaml", block), Map.of(), Map.of());
            }
        }
        var catalog = Catalog.load(List.of(write("servers.yaml", blocks.get(2))), write("cay.yaml", blocks.get(3)));
        assertThat(catalog.servers()).hasSize(267);
        assertThat(start(catalog, "githubOfficial", options("githubPersonalAccessToken")))
                .isEqualTo(new LaunchPlan.Command(
                        List.of("/opt/mcp/github-mcp-server", "stdio"), Path.of("/usr/local/bin/github-mcp-server")));
        assertThat(start(catalog, "reports", options("root")))
                .isEqualTo(new LaunchPlan.Command(
                        List.of("node", "/opt/mcp/server.js", "--root=given"), Path.of("/opt/reports")));
        assertThat(words(catalog, "slack")).containsExactly("npm");
        assertThat(words(catalog, "sentry")).isEmpty();
        assertThat(catalog.interceptions(write("cay.yaml", blocks.getLast()))).hasSize(2);
        var wiki = Catalog.load(List.of(write("servers.yaml", blocks.get(2))), write("cay.yaml", blocks.get(5)));
        assertThat(wiki.overrideOf(wiki.require("wiki")).oauth())
                .isEqualTo(new ServerOverride.OAuth(
                        "cay-4711", "s3cret", "https://login.example.org", List.of("pages.read", "pages.write")))
                .asString()
                .doesNotContain("s3cret");
    }

    @Test
    void waysAreTriedInTheOrderOfTheFile() {
        assertThat(words(BUILT_IN, "notion")).containsExactly("npm", "image");
        assertThat(words(BUILT_IN, "githubOfficial")).containsExactly("image", "remote");
        assertThat(words(BUILT_IN, "webflow")).as("without its package").containsExactly("image");
    }

    @Test
    void aPackageThatNobodyConfirmedIsRefusedWithWhatToSet() throws Exception {
        var file = write("mine.yaml", """
                servers:
                  mine: {title: M, category: tools, launch: {npm: {package: x, version: 1.0.0, bin: x}}}
                """);
        var catalog = Catalog.load(List.of(file), null);
        var unsure = thrown(() -> catalog.plan("mine", JsonNodeFactory.instance.objectNode()));
        assertThat(unsure.kind()).isEqualTo(ErrorKind.NOT_IMPLEMENTED);
        assertThat(unsure.userMessage()).contains("mcp.servers.mine: {way: npm}");
    }

    @Test
    void anOperatorConfirmsAPackageOrSwitchesAServerOff() throws Exception {
        var file = write(
                "cay.yaml", "mcp: {servers: {webflow: {launch: npm}, slack: {way: image}, tavily: {disabled: true}}}");
        var catalog = Catalog.load(List.of(), file);
        assertThat(words(catalog, "webflow")).containsExactly("npm");
        assertThat(words(catalog, "slack")).containsExactly("image");
        assertThat(words(catalog, "tavily")).isEmpty();
        var off = thrown(() -> catalog.plan("tavily", JsonNodeFactory.instance.objectNode()));
        assertThat(off.kind()).isEqualTo(ErrorKind.PERMISSION_DENIED);
        assertThat(off.userMessage()).contains("mcp.servers.tavily.disabled");
    }

    private static List<String> words(Catalog catalog, String key) {
        return catalog.ways(catalog.require(key)).stream().map(ServerWay::word).toList();
    }

    /// In the first way.
    private static LaunchPlan.Start start(Catalog catalog, String key, JsonNode options) {
        return catalog.plan(key, options).ways().getFirst().start();
    }

    private static JsonNode options(String name) {
        return JsonNodeFactory.instance.objectNode().put(name, "given");
    }

    private Path write(String name, String yaml) throws Exception {
        return Files.writeString(directory.resolve(name), yaml);
    }

    private static CayException thrown(ThrowingCallable call) {
        var thrown = catchThrowableOfType(CayException.class, call);
        assertThat(thrown).isNotNull();
        return thrown;
    }
}
