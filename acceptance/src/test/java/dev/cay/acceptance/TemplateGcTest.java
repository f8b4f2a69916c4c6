package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.life.Trees;
import dev.cay.platform.OwnCay;
import dev.cay.sdk.Cay;
import dev.cay.sdk.NewSandbox;
import dev.cay.sdk.Settings;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/// `cay template gc` with a daemon that has a cache of its own: what it removes is nobody else's.
@NeedsRoot
@Timeout(300)
final class TemplateGcTest {
    private static final Path MACHINES = Path.of("/var/cache/cay/layers");

    @TempDir
    private Path project;

    private Path cache;
    private OwnCay platform;
    private Cay cay;

    /// The template base and the dashboard are the machine's, by links, which are not layers that could be removed.
    /// While
    /// the dashboard is built, all layers that are made meanwhile stay.
    @BeforeEach
    void start() throws Exception {
        cache = Files.createTempDirectory("cay-gc-");
        var layers = Files.createDirectory(cache.resolve("layers"));
        if (Files.isDirectory(MACHINES)) {
            try (var made = Files.newDirectoryStream(MACHINES, "{base,dashboard-built}-*")) {
                for (var layer : made) {
                    Files.createSymbolicLink(layers.resolve(layer.getFileName()), layer);
                }
            }
        }
        platform = OwnCay.start(Map.of("cacheDir", cache.toString()));
        cay = Cay.with(Settings.from(platform.environment(OwnCay.Mode.URL)));
        Await.until("the dashboard is built", () -> !dashboard().contains("is being built"));
    }

    @AfterEach
    void stop() throws IOException {
        cay.close();
        platform.close();
        Trees.delete(cache);
    }

    @Test
    void removesWhatNothingNeedsAndNothingElse() throws Exception {
        build("gone", "RUN echo gone > /srv/file");
        var before = steps();
        build("kept", "RUN echo kept > /srv/file");
        try (var running = cay.create(NewSandbox.of("kept"));
                var paused = cay.create(NewSandbox.of("kept"))) {
            paused.pause();
            run(0, "template", "delete", "gone");

            assertThat(run(0, "template", "gc")).contains("nothing to remove").contains("30 days");
            var shown = run(0, "template", "gc", "--dry-run", "--older-than", "0");
            assertThat(shown).contains("would remove").contains("nothing was changed");
            assertThat(before).as(shown).allMatch(shown::contains);
            assertThat(steps()).containsAll(before);

            platform.crash();
            platform.startAgain();
            var removed = JsonMapper.shared().readTree(run(0, "template", "gc", "--older-than", "0", "--json"));
            assertThat(removed.findValuesAsString("name")).containsAll(before);
            assertThat(removed.get("bytes").asLong()).isPositive();
            assertThat(steps()).isNotEmpty().doesNotContainAnyElementsOf(before);

            assertThat(running.commands().run("cat /srv/file").stdout()).isEqualTo("kept\n");
            paused.resume();
            assertThat(paused.commands().run("cat /srv/file").stdout()).isEqualTo("kept\n");
        }
        try (var fresh = cay.create(NewSandbox.of("kept"))) {
            assertThat(fresh.commands().run("cat /srv/file").stdout()).isEqualTo("kept\n");
        }
        assertThat(build("gone", "RUN echo gone > /srv/file")).doesNotContain("CACHED RUN");
    }

    @Test
    void saysWhatIsWrong() throws Exception {
        assertThat(run(1, "template", "gc", "--older-than", "soon")).contains("--older-than must be a time like");
        run(0, "down");
        assertThat(run(1, "template", "gc")).contains("Cay is not running; start it with");
    }

    private String dashboard() throws Exception {
        try (var client = HttpClient.newHttpClient()) {
            var request =
                    HttpRequest.newBuilder(platform.url().resolve("/dashboard")).build();
            return client.send(request, BodyHandlers.ofString()).body();
        }
    }

    private String build(String name, String instruction) throws Exception {
        Files.writeString(project.resolve("Dockerfile"), "FROM e2bdev/base\n" + instruction + "\n");
        return run(0, "template", "build", project.toString(), "--name", name);
    }

    /// Layers that steps of builds have made.
    private List<String> steps() throws IOException {
        try (var layers = Files.list(cache.resolve("layers"))) {
            return layers.map(layer -> layer.getFileName().toString())
                    .filter(name -> name.startsWith("step-"))
                    .toList();
        }
    }

    /// @return all that the command printed
    private String run(int exit, String... arguments) throws Exception {
        var process = platform.cay(arguments).redirectErrorStream(true).start();
        process.getOutputStream().close();
        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).as(output).isEqualTo(exit);
        return output;
    }
}
