package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `cay secret`, as a process, with a real server that has no sandboxes.
@Fast
final class SecretCommandTest {
    @TempDir
    private Path directory = Path.of("unset");

    private CommandServer cay;

    @BeforeEach
    void start() throws Exception {
        cay = new CommandServer(directory, new Rehearsal.EmptyNode(), "127.0.0.1");
    }

    @AfterEach
    void stop() {
        cay.close();
    }

    @Test
    void aSecretIsMadeListedChangedAndDeleted() throws Exception {
        assertThat(secret("", "list").out()).isEqualTo("no secrets\n");
        assertThat(secret("top\n", "create", "OpenAI", "--hosts", "api.openai.com,*.example.org")
                        .out())
                .matches("sec_\\w{20} openai +version 1 +for api.openai.com,\\*.example.org\n");
        assertThat(secret("more", "update", "openai").out()).contains("version 2");
        assertThat(secret("", "list", "-o", "json").out())
                .contains("\"currentVersion\" : 2")
                .doesNotContain("more");
        assertThat(secret("", "rotate-key").out()).isEqualTo("1 secrets are sealed with a new key\n");
        assertThat(secret("", "rotate-identity").out()).matches("identity tokens are signed with the key \\S{43}\n");
        assertThat(secret("", "delete", "openai").out()).isEqualTo("openai is gone\n");
        assertThat(secret("", "delete", "openai").errors()).contains("'openai' not found");
    }

    @Test
    void whatIsWrongEndsWithASentence() throws Exception {
        assertThat(secret("", "create", "empty").errors()).contains("standard input has no value");
        assertThat(secret("x", "create", "a b").errors()).contains("'name' must be");
        assertThat(secret("x", "create", "a", "--hosts", "http://a").errors()).contains("host names like");
        assertThat(secret("x", "update", "a/../b").errors()).contains("there is no secret");
    }

    private CommandServer.Said secret(String input, String... words) throws Exception {
        var all = new ArrayList<>(List.of("secret"));
        all.addAll(List.of(words));
        return cay.cayWith(input, all.toArray(String[]::new));
    }
}
