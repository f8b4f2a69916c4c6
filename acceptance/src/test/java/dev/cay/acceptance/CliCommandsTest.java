package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.testing.NeedsRoot;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

/// Every command of E2B's command line works here, or ends with a sentence. {@link CliClientTest} has those that run
/// something in a sandbox or build a template, {@link LoginTest} those that need a browser.
@ExtendWith(TestPlatform.class)
@NeedsRoot
final class CliCommandsTest {
    private static final String VERSION = "2.19.0";
    private static final int LIMIT_SECONDS = 60;
    private static final Pattern COMMAND = Pattern.compile("(?m)^  ([a-z]+)(\\|[a-z]+)?[ \\n]");

    /// What has a case in one of the three classes. A command that a new version brings fails the first test here.
    private static final Set<String> COVERED = Set.of(
            "auth login",
            "auth logout",
            "auth info",
            "auth configure",
            "template create",
            "template list",
            "template init",
            "template delete",
            "template publish",
            "template unpublish",
            "template migrate",
            "sandbox connect",
            "sandbox info",
            "sandbox list",
            "sandbox kill",
            "sandbox pause",
            "sandbox resume",
            "sandbox create",
            "sandbox logs",
            "sandbox metrics",
            "sandbox exec",
            "sandbox snapshot create",
            "sandbox snapshot list",
            "sandbox snapshot delete");

    /// What a command said, and its exit code.
    private record Said(int code, String text) {}

    @TempDir
    Path home;

    private NpmClient client;

    @BeforeEach
    void install() throws Exception {
        client = NpmClient.install("@e2b/cli", VERSION);
    }

    /// Ends within a minute, with nobody at the keyboard.
    private Said run(Map<String, String> environment, String... arguments) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of(
                "node", client.directory().resolve("node_modules/.bin/e2b").toString()));
        command.addAll(List.of(arguments));
        var builder =
                client.program(environment, command.toArray(String[]::new)).redirectErrorStream(true);
        builder.environment().put("HOME", home.toString());
        var output = home.resolve("output").toFile();
        var process = builder.redirectOutput(output).start();
        process.getOutputStream().close();
        boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
        process.destroyForcibly();
        String text = Files.readString(output.toPath(), StandardCharsets.UTF_8);
        assertThat(ended)
                .as(() -> String.join(" ", arguments) + " hangs:\n" + text)
                .isTrue();
        return new Said(process.exitValue(), text);
    }

    private String good(OwnCay platform, String... arguments) throws Exception {
        var said = run(platform.environment(OwnCay.Mode.URL), arguments);
        assertThat(said.code())
                .as(() -> String.join(" ", arguments) + "\n" + said.text())
                .isZero();
        return said.text();
    }

    @Test
    void everyCommandHasACase() throws Exception {
        var found = new TreeSet<String>();
        for (String group : List.of("auth", "template", "sandbox", "sandbox snapshot")) {
            var help = new ArrayList<>(List.of(group.split(" ")));
            help.add("--help");
            String text = run(Map.of(), help.toArray(String[]::new)).text();
            var names = COMMAND.matcher(text.substring(text.indexOf("Commands:")));
            while (names.find()) {
                if (!Set.of("help", "snapshot").contains(names.group(1))) {
                    found.add(group + " " + names.group(1));
                }
            }
        }
        assertThat(found).containsExactlyInAnyOrderElementsOf(COVERED);
    }

    @Test
    void showsPausesResumesAndSnapshotsASandbox(OwnCay platform) throws Exception {
        String id = good(platform, "sandbox", "create", "--detach")
                .strip()
                .lines()
                .toList()
                .getLast();
        assertThat(good(platform, "sandbox", "info", id)).contains(id).contains("running");
        var info = JsonMapper.shared().readTree(good(platform, "sandbox", "info", "--format", "json", id));
        assertThat(info.toString()).contains(id);

        good(platform, "sandbox", "pause", id);
        assertThat(good(platform, "sandbox", "info", id)).contains("paused");
        assertThat(good(platform, "sandbox", "list", "--state", "paused")).contains(id);
        good(platform, "sandbox", "resume", id);
        assertThat(good(platform, "sandbox", "exec", id, "echo", "awake again")).contains("awake again");

        assertThat(good(platform, "sandbox", "snapshot", "create", "--name", "cli-saved", id))
                .contains("cli-saved");
        var listed =
                JsonMapper.shared().readTree(good(platform, "sandbox", "snapshot", "list", "--format", "json", id));
        assertThat(listed).hasSize(1);
        assertThat(good(platform, "sandbox", "snapshot", "list")).contains("cli-saved");
        good(platform, "sandbox", "snapshot", "delete", "cli-saved");
        assertThat(good(platform, "sandbox", "snapshot", "list")).doesNotContain("cli-saved");
        assertThat(good(platform, "sandbox", "kill", id)).contains(id);
        assertThat(run(platform.environment(OwnCay.Mode.URL), "sandbox", "info", id)
                        .text())
                .contains("wasn't found");
    }

    @Test
    void writesTemplatesOfEachLanguage(OwnCay platform) throws Exception {
        for (String language : List.of("typescript", "python-sync", "python-async")) {
            var fresh = Files.createDirectory(home.resolve(language)).toString();
            good(platform, "template", "init", "--path", fresh, "--name", "made-here", "--language", language);
            assertThat(Path.of(fresh, "made-here")).isNotEmptyDirectory();
            var old = Files.createDirectory(home.resolve("old-" + language));
            Files.writeString(old.resolve("e2b.Dockerfile"), "FROM e2bdev/base\nRUN true\n");
            Files.writeString(old.resolve("e2b.toml"), "template_id = \"abc\"\ndockerfile = \"e2b.Dockerfile\"\n");
            good(platform, "template", "migrate", "--path", old.toString(), "--language", language);
            assertThat(old.toFile().list((_, name) -> name.startsWith("template.")))
                    .isNotEmpty();
        }
    }

    @Test
    void theOldBuildSaysThatItIsOver(OwnCay platform) throws Exception {
        var said = run(platform.environment(OwnCay.Mode.URL), "template", "build");
        assertThat(said.code()).isEqualTo(1);
        assertThat(said.text()).contains("deprecated");
    }

    @Test
    void withoutASignInTheCommandsForItSaySo(OwnCay platform) throws Exception {
        assertThat(good(platform, "auth", "info")).contains("Not logged in");
        assertThat(good(platform, "auth", "logout")).contains("Not logged in");
        assertThat(good(platform, "auth", "configure")).contains("e2b auth login");
    }

    /// With a key that is not known here, and for a sandbox that is not there.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "sandbox list",
                "sandbox info ID",
                "sandbox pause ID",
                "sandbox resume ID",
                "sandbox kill ID",
                "sandbox logs ID",
                "sandbox metrics ID",
                "sandbox exec ID true",
                "sandbox create --detach",
                "sandbox connect ID",
                "sandbox snapshot create ID",
                "sandbox snapshot list",
                "sandbox snapshot delete nothing",
                "template list",
                "template create made-here --path HOME",
                "template delete nothing -y",
                "template publish nothing -y",
                "template unpublish nothing -y"
            })
    void aFailureEndsWithASentence(String command, OwnCay platform) throws Exception {
        Files.writeString(home.resolve("e2b.Dockerfile"), "FROM e2bdev/base\nRUN true\n");
        String[] words = command.replace("ID", "i11111111111111111111")
                .replace("HOME", home.toString())
                .split(" ");
        var stranger = new HashMap<>(platform.environment(OwnCay.Mode.URL));
        stranger.put("E2B_API_KEY", "e2b_" + "0".repeat(40));
        var refused = run(stranger, words);
        assertThat(refused.text()).contains("the API key is not known here");
        if (command.contains("ID") || command.contains("nothing")) {
            var missing = run(platform.environment(OwnCay.Mode.URL), words);
            assertThat(missing.text().strip()).as(command).isNotEmpty();
        }
    }
}
