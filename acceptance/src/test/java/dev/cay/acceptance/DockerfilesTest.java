package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.OwnCay;
import dev.cay.sdk.Cay;
import dev.cay.sdk.NewSandbox;
import dev.cay.sdk.Settings;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.OwnRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Dockerfiles as people write them, in `src/test/dockerfiles`: each is built, and a sandbox of it answers on its
/// port as soon as it is there. The names of images stand for templates, as in a network without a registry.
@NeedsRoot
@Timeout(value = 10, unit = TimeUnit.MINUTES)
final class DockerfilesTest {
    private static OwnCay platform;

    @TempDir
    private Path directory = Path.of("unset");

    @BeforeAll
    static void start() throws Exception {
        var settings = new HashMap<>(PackageMirrors.opened());
        settings.put(
                "templates.images", "python:3*=base,node:*=base,debian:*=base,eclipse-temurin:*=code-interpreter-v1");
        platform = OwnCay.start(settings);
        platform.awaitTemplate("code-interpreter-v1");
    }

    @AfterAll
    static void stop() throws Exception {
        if (platform != null) {
            platform.close();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "python, 8000, '/',            'hello, web'",
        "node,   3000, '/12',          '12 is a number, says production as 1000'",
        "java,   8080, '/',            'hello from Java'",
        "apt,    8080, '/index.html',  'sqlite 42'",
        "static, 7000, '/',            'static, as 65532'"
    })
    void answersAsSoonAsItIsThere(String name, int port, String path, String expected) throws Exception {
        build(name);
        assertThat(answer(name, port, path)).isEqualTo(expected);
    }

    /// To a file and back, and to a registry.
    @Test
    void travelsAsAnImage() throws Exception {
        build("static");
        var file = directory.resolve("static.tar");
        cay("", "template", "export", "static", file.toString());
        assertThat(cay("", "template", "import", file.toString(), "--name", "brought"))
                .contains("Template brought is ready");
        assertThat(answer("brought", 7000, "/")).isEqualTo("static, as 65532");

        try (var registry = OwnRegistry.start(directory.resolve("registry"), true)) {
            String image = registry.host() + "/team/static:v1";
            String sent = cay(
                    OwnRegistry.PASSWORD,
                    "template",
                    "push",
                    "static",
                    image,
                    "--username",
                    OwnRegistry.USER,
                    "--password-stdin",
                    "--plain-http");
            assertThat(sent).contains(image + "@sha256:");
        }
    }

    private static void build(String name) throws Exception {
        cay("", "template", "build", Path.of("src/test/dockerfiles", name).toString());
    }

    /// Runs the command, which must succeed.
    ///
    /// @return what it printed
    private static String cay(String input, String... arguments) throws Exception {
        var process = platform.cay(arguments).redirectErrorStream(true).start();
        try (var in = process.getOutputStream()) {
            in.write(input.getBytes(StandardCharsets.UTF_8));
        }
        String log = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(log).isZero();
        return log;
    }

    private static String answer(String template, int port, String path) throws Exception {
        try (var cay = Cay.with(Settings.from(platform.environment(OwnCay.Mode.URL)));
                var sandbox = cay.create(NewSandbox.of(template));
                var http = HttpClient.newHttpClient()) {
            var request = HttpRequest.newBuilder(URI.create(platform.url() + path))
                    .header("E2b-Sandbox-Id", sandbox.id())
                    .header("E2b-Sandbox-Port", String.valueOf(port))
                    .build();
            var answer = http.send(request, BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            return answer.body().strip();
        }
    }
}
