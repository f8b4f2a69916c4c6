package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.OwnCay;
import dev.cay.sdk.NewSandbox;
import dev.cay.testing.NeedsRoot;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Templates from Dockerfiles, by the `cay` command.
@NeedsRoot
final class DockerfileTest extends SdkTest {
    @TempDir
    private Path directory;

    private record Ended(int exit, String output) {}

    @Test
    void aSandboxHasWhatTheDockerfileSays(OwnCay platform) throws Exception {
        Files.writeString(directory.resolve("Dockerfile"), """
                FROM e2bdev/base AS maker
                ARG WORD=nothing
                COPY source.txt .
                RUN sed "s/WORD/$WORD/" /source.txt > /made.txt
                FROM docker.io/e2bdev/base:latest
                COPY --from=maker --chown=user /made.txt /srv/
                WORKDIR /srv
                ENV COLOR=blue
                RUN echo $COLOR > color.txt
                """);
        Files.writeString(directory.resolve("source.txt"), "the WORD\n");
        Files.writeString(directory.resolve("ignored.txt"), "x");
        Files.writeString(directory.resolve(".dockerignore"), "ignored.txt\n");
        String[] command = {
            "template", "build", directory.toString(), "--name", "from-dockerfile", "--build-arg", "WORD=answer"
        };

        var built = run(platform, command);

        assertThat(built.exit()).as(built.output()).isZero();
        assertThat(built.output()).contains("[maker 3/3] RUN sed").contains("Template from-dockerfile is ready");
        try (var sandbox = cay.create(NewSandbox.of("from-dockerfile"))) {
            assertThat(sandbox.commands()
                            .run("pwd; cat made.txt color.txt; stat -c %U made.txt; whoami")
                            .stdout())
                    .isEqualTo("/srv\nthe answer\nblue\nuser\nuser\n");
        }
        var again = run(platform, command);
        assertThat(again.output()).contains("has the build context already").contains("CACHED RUN sed");
    }

    @Test
    void aFailureNamesTheLineAndEndsWithOne(OwnCay platform) throws Exception {
        var file =
                Files.writeString(directory.resolve("bad.Dockerfile"), "FROM e2bdev/base\nRUN echo oh >&2; exit 4\n");
        var failed = run(platform, "template", "build", file.toString(), "--name", "failing");
        assertThat(failed.exit()).isEqualTo(1);
        assertThat(failed.output()).contains("bad.Dockerfile:2: RUN echo oh").contains("exit status 4");

        Files.writeString(file, "FROM e2bdev/base\nRUNN true\n");
        var refused = run(platform, "template", "build", directory.toString(), "-f", file.toString());
        assertThat(refused.exit()).isEqualTo(1);
        assertThat(refused.output()).contains("bad.Dockerfile:2:1:").contains("RUN");
    }

    private static Ended run(OwnCay platform, String... arguments) throws Exception {
        var process = platform.cay(arguments).redirectErrorStream(true).start();
        process.getOutputStream().close();
        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        return new Ended(process.exitValue(), output);
    }
}
