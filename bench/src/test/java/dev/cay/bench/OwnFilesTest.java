package dev.cay.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.HostProcess;
import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class OwnFilesTest {
    @TempDir
    private Path directory = Path.of("unset");

    @Test
    void takesOnlyDirectoriesOfEndedProcessesForAbandoned() throws Exception {
        var ended = new ProcessBuilder("sleep", "1000").start();
        var process = HostProcess.of(ended.pid());
        var left = make("bench-pull-" + process);
        make("bench-pull-" + HostProcess.current());
        make("bench-pull-notes");
        make("bench-other-" + process);
        try {
            assertThat(OwnFiles.abandoned(directory, "bench-pull-")).isEmpty();
        } finally {
            ended.destroyForcibly().waitFor();
        }
        assertThat(OwnFiles.abandoned(directory, "bench-pull-")).containsExactly(left);
    }

    private Path make(String name) throws IOException {
        return Files.createDirectory(directory.resolve(name));
    }
}
