package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.cli.DockerLogins.Login;
import dev.cay.testing.Fast;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Logins of Docker's `config.json`.
@Fast
final class DockerLoginsTest {
    @TempDir
    private Path dir;

    private final ByteArrayOutputStream notes = new ByteArrayOutputStream();

    private Map<String, Login> find(String config, String... registries) throws Exception {
        var file = Files.writeString(dir.resolve("config.json"), config);
        return new DockerLogins(file, new PrintStream(notes, true, StandardCharsets.UTF_8)).find(Set.of(registries));
    }

    private static String auth(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void takesOnlyTheLoginsOfTheRegistriesThatAreNamed() throws Exception {
        String config = """
                {"auths": {
                  "registry.example:5000": {"auth": "%s"},
                  "https://index.docker.io/v1/": {"auth": "%s"},
                  "https://other.example/v2/": {"username": "you", "password": "p"},
                  "unasked.example": {"auth": "%s"}}}""".formatted(auth("me:pass:word"), auth("hub:secret"), auth("a:b"));
        assertThat(find(config, "registry.example:5000", "docker.io", "other.example"))
                .containsOnly(
                        Map.entry("registry.example:5000", new Login("me", "pass:word")),
                        Map.entry("docker.io", new Login("hub", "secret")),
                        Map.entry("other.example", new Login("you", "p")));
        assertThat(notes.toString(StandardCharsets.UTF_8)).isEmpty();
        assertThat(new Login("me", "hidden").toString()).doesNotContain("hidden");
    }

    @Test
    void tellsOfLoginsThatItCannotUse() throws Exception {
        String config = """
                {"credsStore": "desktop", "credHelpers": {"helped.example": "ecr-login", "unasked.example": "x"},
                 "auths": {"kept.example": {}, "broken.example": {"auth": "???"}, "unasked.example": {}}}""";
        assertThat(find(config, "kept.example", "helped.example", "broken.example"))
                .isEmpty();
        assertThat(notes.toString(StandardCharsets.UTF_8))
                .contains("kept.example", "helped.example", "broken.example", "--registry-user")
                .doesNotContain("unasked.example");
    }

    @Test
    void goesOnWithoutAFileThatItCanRead() throws Exception {
        assertThat(find("{ secret", "registry.example")).isEmpty();
        assertThat(notes.toString(StandardCharsets.UTF_8))
                .contains("is no JSON")
                .doesNotContain("secret");
        Files.delete(dir.resolve("config.json"));
        assertThat(new DockerLogins(dir.resolve("config.json"), System.err).find(Set.of("registry.example")))
                .isEmpty();
        assertThat(DockerLogins.usualFile(Map.of("HOME", "/home/me"))).hasToString("/home/me/.docker/config.json");
        assertThat(DockerLogins.usualFile(Map.of("HOME", "/home/me", "DOCKER_CONFIG", "/d")))
                .hasToString("/d/config.json");
    }
}
