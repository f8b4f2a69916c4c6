package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.Programs;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Keep;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/// Users of the host come near nothing that sandboxes have or had. CRIU makes images that everybody may read, and disks
/// are full of such files.
@NeedsRoot
class HostUsersTest extends NodeTest {
    private static final SandboxId ID = new SandboxId("sleeper");

    @Test
    void cannotReadDisksAndMemory() throws Exception {
        node.keepers.create(TestNode.spec("sleeper"));
        assertOutOfReach(node.host.pool().layer(ID).resolve("upper"));
        node.keepers.pause(ID, Keep.MEMORY);
        assertOutOfReach(saved("inventory.img"));
        assertOutOfReach(saved("upper"));
    }

    private Path saved(String name) throws IOException {
        try (var files = Files.walk(node.host.pool().directory("snapshots"))) {
            return files.filter(file -> file.endsWith(name)).findFirst().orElseThrow();
        }
    }

    private static void assertOutOfReach(Path path) {
        assertThat(canRead(path, "0")).as("root reads %s", path).isTrue();
        assertThat(canRead(path, "65534")).as("others read %s", path).isFalse();
    }

    private static boolean canRead(Path path, String user) {
        String[] words = {
            "setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups", "test", "-r", path.toString()
        };
        return Programs.ofHost().run(Duration.ofSeconds(10), words).ok();
    }
}
