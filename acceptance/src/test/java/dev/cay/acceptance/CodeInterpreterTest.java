package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.acceptance.ClientSuite.Client;
import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.testing.NeedsRoot;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;

/// E2B's own client of the code interpreter, unmodified, against contexts in real sandboxes. The cases are in
/// `src/test/js/interpreter`.
@ExtendWith(TestPlatform.class)
@NeedsRoot
final class CodeInterpreterTest {
    private static final String PACKAGE = "@e2b/code-interpreter";
    private static final List<String> FILES = List.of(
            "suite.test.mjs",
            "languages.test.mjs",
            "contexts.test.mjs",
            "results.test.mjs",
            "charts.test.mjs",
            "clients.test.mjs",
            "life.test.mjs",
            "ondemand.test.mjs",
            "extremes.test.mjs");

    /// What has to do with the way to the platform; what cells do and give back is the same by any.
    private static final List<String> WAY = List.of("suite.test.mjs", "clients.test.mjs");

    /// What has to do with the client; what runners do with languages, with cells that are large or broken, and through
    /// pauses, is the same for any.
    private static final List<String> VERSION =
            List.of("suite.test.mjs", "contexts.test.mjs", "results.test.mjs", "charts.test.mjs", "clients.test.mjs");

    /// Speaks to no client.
    private static final String WIRE = "wire.test.mjs";

    /// What happens there is the same for all clients.
    private static final String HOSTILE = "hostile.test.mjs";

    private static final List<Client> CLIENTS = List.of(
            new Client(PACKAGE, "2.8.0", OwnCay.Mode.DOMAIN, with(FILES.stream(), WIRE, HOSTILE)),
            new Client(PACKAGE, "2.8.0", OwnCay.Mode.URL, WAY),
            // It does not read the variables that hold URLs.
            new Client(PACKAGE, "2.0.1", OwnCay.Mode.DOMAIN, VERSION));

    /// Its cases compute more than they wait.
    private static final ClientSuite SUITE = new ClientSuite(
            CompatibilityReport.Part.INTERPRETER,
            "interpreter/",
            2,
            Set.of("Sandbox.runCode", "Sandbox.createCodeContext"));

    private static List<String> with(Stream<String> files, String... more) {
        return Stream.concat(files, Stream.of(more)).toList();
    }

    @TestFactory
    List<DynamicNode> everyVersionEveryWay(OwnCay platform) throws Exception {
        platform.awaitTemplate("code-interpreter-v1");
        platform.awaitTemplate("base");
        return SUITE.run(_ -> platform, CLIENTS);
    }

    @Test
    void aRestartAfterAKillFindsContextsAndTheirVariables() throws Exception {
        try (var platform = OwnCay.start(Map.of())) {
            platform.awaitTemplate("code-interpreter-v1");
            var client = NpmClient.install(PACKAGE, "2.8.0");
            var verdict = CrashScript.run(platform, client, "interpreter/crash.mjs");
            assertThat(verdict.get("broken").asString()).startsWith("broken: ");
            assertThat(verdict.get("sameContexts").asBoolean())
                    .as(verdict.toString())
                    .isTrue();
            assertThat(verdict.get("goesOn").asBoolean()).as(verdict.toString()).isTrue();
            assertThat(verdict.get("lost").isEmpty()).as(verdict.toString()).isTrue();
            assertThat(verdict.get("languages").asInt()).isGreaterThanOrEqualTo(4);
            assertThat(verdict.get("count").asInt()).as(verdict.toString()).isPositive();
            assertThat(verdict.get("next").asString()).isEqualTo("2");
        }
    }
}
