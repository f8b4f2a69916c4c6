package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `cay key`, as a process, with a real server that has no sandboxes.
@Fast
final class KeyCommandTest {
    @TempDir
    private Path directory = Path.of("unset");

    private CommandServer cay;

    @BeforeEach
    void start() throws Exception {
        cay = new CommandServer(directory, new Rehearsal.EmptyNode());
    }

    @AfterEach
    void stop() {
        cay.close();
    }

    @Test
    void aKeyHasTheLimitsOfATeamAlsoOfDisk() throws Exception {
        assertThat(cay.cay("key", "create", "small").errors()).startsWith("key small, id ");
        String id = cay.cay("key", "list")
                .out()
                .lines()
                .filter(line -> line.contains(" small "))
                .map(line -> line.substring(0, line.indexOf(' ')))
                .findFirst()
                .orElseThrow();
        assertThat(cay.cay("key", "limit", id, "--disk", "10GB", "--sandboxes", "5")
                        .out())
                .containsPattern("sandboxes +5   in use: 0")
                .containsPattern("diskMB +10240   in use: 0")
                .containsPattern("builds +none");
        assertThat(cay.cay("key", "limit", id, "--disk", "none").out()).containsPattern("diskMB +none\n");
        assertThat(cay.cay("key", "limit", id, "--disk", "much").errors()).contains("--disk must be", "not 'much'");
    }

    @Test
    void whatCannotBeAnIdIsNotFound() throws Exception {
        for (String id : List.of("a b", "50%", "../webhooks", "x?y")) {
            for (var refused :
                    List.of(cay.cay("key", "revoke", id), cay.cay("key", "rotate", id), cay.cay("key", "limit", id))) {
                assertThat(refused.code()).isEqualTo(1);
                assertThat(refused.errors())
                        .isEqualToIgnoringNewLines("cay: the team has no API key with id '%s'".formatted(id));
            }
        }
    }

    @Test
    void aKeyForASandboxThatIsNotThereIsRefused() throws Exception {
        var said = cay.cay("key", "create", "agent", "--scope", "sandbox:iabcdefghijabcdefghij");
        assertThat(said.code()).isNotZero();
        assertThat(said.errors())
                .contains("'scope' is for the sandbox 'iabcdefghijabcdefghij', which the team does not have");
        assertThat(cay.cay("key", "list").out()).doesNotContain("agent");
    }
}
