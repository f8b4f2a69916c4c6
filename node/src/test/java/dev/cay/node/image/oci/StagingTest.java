package dev.cay.node.image.oci;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class StagingTest {
    @TempDir
    private Path directory;

    @Test
    void removesWhatAKilledPullLeftAndNothingThatIsInUse() throws Exception {
        var parent = directory.resolve("staging");
        var killed = Files.createDirectories(parent.resolve("pull-killed"));
        Files.writeString(killed.resolve("lock"), "");
        Files.writeString(killed.resolve("half"), "of a layer");
        var others = Files.createDirectories(parent.resolve("pull-others"));
        var other = hold(others.resolve("lock"));
        try (var first = Staging.open(parent);
                var second = Staging.open(parent)) {
            assertThat(killed).doesNotExist();
            assertThat(List.of(others, first.directory(), second.directory()))
                    .allSatisfy(each -> assertThat(each).isDirectory());
        } finally {
            other.destroyForcibly().waitFor();
        }
        try (var _ = Staging.open(parent)) {
            assertThat(others).as("after its process is gone").doesNotExist();
        }
        assertThat(parent).isEmptyDirectory();
    }

    private static Process hold(Path lock) throws Exception {
        var process = new ProcessBuilder(List.of(
                        "python3",
                        "-I",
                        "-c",
                        "import fcntl,sys\nf=open(sys.argv[1],'w')\nfcntl.lockf(f,fcntl.LOCK_EX)\nprint('held',flush=True)\n"
                                + "sys.stdin.readline()\n",
                        lock.toString()))
                .start();
        assertThat(process.inputReader().readLine()).isEqualTo("held");
        return process;
    }
}
