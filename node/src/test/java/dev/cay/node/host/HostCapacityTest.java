package dev.cay.node.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class HostCapacityTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    @TempDir
    private Path dir;

    @Test
    void refusesWhenMemoryRunsOutAndBearsOvercommitment() throws IOException {
        assertThatCode(() ->
                        room("MemTotal: 8000000 kB\nMemAvailable: 600000 kB\n").require())
                .doesNotThrowAnyException();
        assertThatThrownBy(() ->
                        room("MemTotal: 8000000 kB\nMemAvailable: 400000 kB\n").require())
                .isInstanceOfSatisfying(
                        CayException.class, e -> assertThat(e.kind()).isEqualTo(ErrorKind.UNAVAILABLE))
                .hasMessage(
                        "this machine has no room for another sandbox: 390 MB of memory are available and 454 MB must be; kill sandboxes or add memory");
        assertThatCode(() -> room("").require()).doesNotThrowAnyException();
    }

    /// The kernel calls memory available that is only on its way.
    @Test
    void countsMemoryThatIsStillComingBack() throws IOException {
        var room = room("MemTotal: 8000000 kB\nMemAvailable: 600000 kB\n");
        var id = new SandboxId("filled");
        var missing = new AtomicLong(200L << 20);
        room.expect(id, missing::get);
        assertThatThrownBy(room::require).hasMessageContaining("385 MB of memory are available and 454 MB must be");
        missing.set(10 << 20);
        room.require();
        missing.set(200 << 20);
        room.expectNoMore(id);
        room.require();
    }

    @Test
    void leavesAQuarterOfTheSwapToOthers() throws IOException {
        var room = room("MemTotal: 8000000 kB\nMemAvailable: 600000 kB\nSwapTotal: 400 kB\nSwapFree: 300 kB\n");
        assertThat(room.swaps()).isTrue();
        assertThat(room.swapRoom()).isEqualTo(200 << 10);
        assertThat(room("SwapTotal: 400 kB\nSwapFree: 50 kB\n").swapRoom()).isZero();
        assertThat(room("MemTotal: 8000000 kB\n").swapRoom()).isZero();
    }

    /// Each is promised what the others left, before any of it is there.
    @Test
    void promisesNoMoreThanThereIs() throws IOException {
        var room = room("MemTotal: 8000000 kB\nMemAvailable: 1000000 kB\n");
        room.promise(new SandboxId("one"), () -> 400L << 20);
        assertThatThrownBy(() -> room.promise(new SandboxId("two"), () -> 400L << 20))
                .isInstanceOfSatisfying(
                        CayException.class, e -> assertThat(e.kind()).isEqualTo(ErrorKind.UNAVAILABLE))
                .hasMessageContaining("176 MB of memory are available and 454 MB must be");
        room.promise(new SandboxId("two"), () -> 100L << 20);
        assertThatThrownBy(() -> room.promise(new SandboxId("three"), () -> 4096L << 20))
                .hasMessageContaining(": 0 MB of memory are available");
        room.expectNoMore(new SandboxId("one"));
        room.promise(new SandboxId("three"), () -> 400L << 20);
    }

    @Test
    @NeedsRoot
    void refusesWhenTheHostsDiskIsNearlyFull() throws IOException {
        var programs = Programs.ofHost();
        var disk = Files.createDirectory(dir.resolve("disk"));
        programs.require(LIMIT, "mount", "-t", "tmpfs", "-o", "size=10m", "cay-test", disk.toString());
        try {
            var room = new HostCapacity(disk, dir.resolve("none"));
            room.require();
            try (var out = Files.newOutputStream(disk.resolve("more"))) {
                out.write(new byte[(10 << 20) - (300 << 10)]);
            }
            assertThatThrownBy(room::require)
                    .isInstanceOf(CayException.class)
                    .hasMessageContaining("are free on the disk of " + disk);
        } finally {
            programs.require(LIMIT, "umount", disk.toString());
        }
    }

    private HostCapacity room(String meminfo) throws IOException {
        return new HostCapacity(dir, Files.writeString(dir.resolve("meminfo"), meminfo));
    }
}
