package dev.cay.node.mcp.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
class RepositoryTokensTest {
    private static final String BASE = "https://git.invalid/";

    @TempDir
    Path directory;

    private Path file(String name, String content) throws IOException {
        var file = Files.writeString(directory.resolve(name), content);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    private static String found(RepositoryTokens tokens, String key, String team) {
        return tokens.find(key, Optional.of(team).filter(name -> !name.isEmpty()))
                .map(login -> login.user() + " " + login.token())
                .orElse("none");
    }

    @Test
    void theFirstEntryForRepositoryAndTeamCounts() throws Exception {
        var tokens = new RepositoryTokens(
                BASE,
                List.of(
                        "github/acme/tools@red=" + file("red", "red-token"),
                        "github/acme/tools=" + file("tools", "robot:tools-token\n"),
                        "github/acme/*@blue=" + file("blue", "blue-token")));
        assertThat(found(tokens, "github/acme/tools", "red")).isEqualTo("x-access-token red-token");
        assertThat(found(tokens, "github/acme/tools", "blue")).isEqualTo("robot tools-token");
        assertThat(found(tokens, "github/acme/tools", "")).isEqualTo("robot tools-token");
        assertThat(found(tokens, "github/acme/other", "blue")).isEqualTo("x-access-token blue-token");
        for (String key : List.of("github/acme/other", "github/acme2/tools", "github/acme", "github/acme/tools2")) {
            assertThat(found(tokens, key, "red")).as(key).isEqualTo("none");
            assertThat(found(tokens, key, "")).as(key).isEqualTo("none");
        }
    }

    @Test
    void aTokenCanBeReplaced() throws Exception {
        var file = file("token", "first-token");
        var tokens = new RepositoryTokens(BASE, List.of("github/acme/*=" + file));
        Files.writeString(file, "second-token");
        assertThat(found(tokens, "github/acme/x", "")).endsWith("second-token");
        Files.delete(file);
        assertThatThrownBy(() -> found(tokens, "github/acme/x", ""))
                .isInstanceOf(CayException.class)
                .hasMessage("the operator's token for github/acme/x cannot be used; the log of Cay says why");
    }

    @Test
    void refusesWhatCannotBeUsed() throws Exception {
        var file = file("token", "a-token");
        assertThatThrownBy(() -> new RepositoryTokens("http://git.invalid/", List.of("github/acme/*=" + file)))
                .hasMessageContaining("mcp.repositoryTokens needs an https address in mcp.repositories");
        assertThatThrownBy(() -> new RepositoryTokens(BASE, List.of("acme/tools=" + file)))
                .hasMessageContaining("github/acme/*=/etc/cay/acme.token");
        assertThatThrownBy(() -> new RepositoryTokens(BASE, List.of("github/acme/*=" + file + "2")))
                .hasMessageContaining("cannot be read");
        var empty = file("empty", " \n");
        assertThatThrownBy(() -> new RepositoryTokens(BASE, List.of("github/acme/*=" + empty)))
                .hasMessageContaining("must hold one line");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        assertThatThrownBy(() -> new RepositoryTokens(BASE, List.of("github/acme/*=" + file)))
                .hasMessageContaining("chmod 600")
                .hasMessageNotContaining("a-token");
    }

    @Test
    void noFormOfATokenIsTold() {
        var login = GitLogin.parse("robot:planted-token");
        assertThat(login).hasToString("GitLogin[]");
        assertThat(login.strikeOut("x planted-token y cm9ib3Q6cGxhbnRlZC10b2tlbg== z"))
                .isEqualTo("x *** y *** z");
    }
}
