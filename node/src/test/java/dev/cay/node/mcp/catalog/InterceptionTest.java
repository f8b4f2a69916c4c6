package dev.cay.node.mcp.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Section `mcp.interceptors` of the configuration.
@Fast
final class InterceptionTest {
    private static final Catalog CATALOG = Catalog.builtIn();

    @TempDir
    private Path directory = Path.of("unset");

    private Path write(String items) throws Exception {
        return Files.writeString(directory.resolve("cay.yaml"), "mcp:\n  interceptors:\n" + items);
    }

    @Test
    void isRead() throws Exception {
        var all = CATALOG.interceptions(write("""
                    - {when: before, exec: [/opt/check, --key=hunter2], servers: [notion, 'github/*'], timeout: 3s}
                    - when: after
                      http: https://127.0.0.1:8000/scrub?key=hunter2
                      tools: ['*-delete']
                """));
        assertThat(all).hasSize(2);
        var first = all.getFirst();
        assertThat(first.when()).isEqualTo(Interception.When.BEFORE);
        assertThat(first.way()).isEqualTo(new Interception.Program(List.of("/opt/check", "--key=hunter2")));
        assertThat(first.timeout()).isEqualTo(Duration.ofSeconds(3));
        assertThat(first.concerns("notion", "x")).isTrue();
        assertThat(first.concerns("github/a/b", "x")).isTrue();
        assertThat(first.concerns("tavily", "x")).isFalse();
        assertThat(all.getLast().timeout()).isEqualTo(Duration.ofSeconds(10));
        assertThat(all.getLast().concerns("tavily", "page\n-delete")).isTrue();
        assertThat(all.getLast().concerns("tavily", "delete")).isFalse();
        assertThat(all).hasToString("[mcp.interceptors[0] (check), mcp.interceptors[1] (127.0.0.1)]");
        assertThat(CATALOG.interceptions(null)).isEmpty();
        assertThat(CATALOG.interceptions(write("    []"))).isEmpty();
    }

    @ParameterizedTest(name = "{1}")
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "- {exec: [x]} # [0].when is missing; it must be before or after",
                "- {when: during, exec: [x]} # [0].when must be before or after",
                "- {when: before} # [0] must hold one of exec and http",
                "- {when: before, exec: [x], http: 'http://x/'} # [0] must hold one of exec and http",
                "- {when: before, exec: hunter2} # [0].exec must be a list of texts",
                "- {when: before, exec: []} # [0].exec must be a list that begins with a program, like [/opt/check, --strict]",
                "- {when: before, exec: [x, 7]} # [0].exec must be a list of texts; put numbers and the like in quotes",
                "- {when: before, http: 'ftp://x/'} # [0].http must be an address like http://127.0.0.1:8000/check, without a user in it",
                "- {when: before, http: 'http://hunter2@x/'} # [0].http must be an address like http://127.0.0.1:8000/check, without a user in it",
                "- {when: before, http: 'http:///x y'} # [0].http must be an address like http://127.0.0.1:8000/check, without a user in it",
                "- {when: before, exec: [x], servers: [notin]} # [0].servers[0] is not in the catalog; did you mean notion?",
                "- {when: before, exec: [x], servers: []} # [0].servers is empty; leave it out for all",
                "- {when: before, exec: [x], tools: x} # [0].tools must be a list of texts",
                "- {when: before, exec: [x], timeout: 2m} # [0].timeout must be a time like 90s, 5m, 1h30m or 2d, from 1s to 1m",
                "- {when: before, exec: [x], timeout: 0} # [0].timeout must be a time like 90s, 5m, 1h30m or 2d, from 1s to 1m",
                "- {when: before, exec: [x], server: [x]} # [0].server is not a field; did you mean servers?",
                "- x # [0] must hold lines of the form `name: value`",
                "when: before # must be a list"
            })
    void aSlipIsNamedWithFileAndPlace(String yaml, String message) throws Exception {
        var file = write("    " + yaml + "\n");
        var thrown = catchThrowableOfType(CayException.class, () -> CATALOG.interceptions(file));
        assertThat(thrown.userMessage().lines())
                .contains(file + ": mcp.interceptors" + (message.startsWith("[") ? message : " " + message));
        assertThat(thrown.userMessage()).doesNotContain("hunter2");
    }
}
