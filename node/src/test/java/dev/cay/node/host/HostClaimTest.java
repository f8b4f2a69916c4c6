package dev.cay.node.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
class HostClaimTest {
    @TempDir
    Path group;

    @Test
    void sandboxesRunWhereProcessesAreInWhateverGroup() throws IOException {
        Files.writeString(group.resolve("cgroup.procs"), "");
        Path around = Files.createDirectories(group.resolve("box"));
        Files.writeString(around.resolve("cgroup.procs"), "");
        Path side = Files.createDirectories(around.resolve("_servers/side"));
        Files.writeString(side.resolve("cgroup.procs"), "");
        assertThat(HostClaim.hasProcesses(group)).isFalse();

        Files.writeString(side.resolve("cgroup.procs"), "17\n");
        assertThat(HostClaim.hasProcesses(group)).isTrue();
        Files.writeString(side.resolve("cgroup.procs"), "");
        Files.writeString(around.resolve("cgroup.procs"), "18\n");
        assertThat(HostClaim.hasProcesses(group)).as("one of an older version").isTrue();
    }
}
