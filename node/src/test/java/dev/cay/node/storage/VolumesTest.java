package dev.cay.node.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.host.Programs;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What every kind of volumes does: the same tests for subvolumes of a real btrfs and for plain directories.
@NeedsRoot
class VolumesTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long BYTES = 50L << 20;

    /// Each test has volumes and an empty directory for them.
    private interface Contract {
        Volumes volumes();

        Path directory();

        @Test
        default void makesAVolumeThatOverlayfsCanUse() throws IOException {
            Path volume = directory().resolve("one");
            volumes().create(volume, BYTES);
            assertThat(volume.resolve("upper")).isEmptyDirectory();
            assertThat(volume.resolve("work")).isEmptyDirectory();
            assertThat(Files.getPosixFilePermissions(volume.resolve("upper"))).hasSize(7);
            assertThatThrownBy(() -> volumes().create(volume, BYTES)).isInstanceOf(CayException.class);
        }

        @Test
        default void copiesWhatIsThereAndTheCopyGoesItsOwnWay() throws IOException {
            Path one = directory().resolve("one");
            volumes().create(one, BYTES);
            Files.writeString(one.resolve("upper/file"), "same");
            Files.createSymbolicLink(one.resolve("upper/link"), Path.of("file"));
            Programs.ofHost().require(LIMIT, "mknod", one.resolve("upper/gone").toString(), "c", "0", "0");
            Path two = directory().resolve("two");

            volumes().copy(one, two, BYTES);
            Files.writeString(one.resolve("upper/file"), "changed");

            assertThat(two.resolve("upper/file")).hasContent("same");
            assertThat(Files.readSymbolicLink(two.resolve("upper/link"))).isEqualTo(Path.of("file"));
            assertThat(Files.getAttribute(two.resolve("upper/gone"), "unix:rdev"))
                    .as("what overlayfs keeps of a deleted file")
                    .isEqualTo(0L);
        }

        @Test
        default void deletesAVolumeHoweverDeepItIs() throws IOException {
            Path volume = directory().resolve("one");
            volumes().create(volume, BYTES);
            Files.createDirectories(volume.resolve("upper" + "/deep".repeat(200)));
            volumes().delete(volume);
            assertThat(volume).doesNotExist();
        }

        @Test
        default void countsWhatAVolumeHolds() throws Exception {
            Path volume = directory().resolve("one");
            volumes().create(volume, BYTES);
            Files.write(volume.resolve("upper/file"), new byte[8 << 20]);
            Programs.ofHost().require(LIMIT, "sync", "-f", volume.toString());
            await(() -> volumes().used(volume) >= 8L << 20);
            assertThat(volumes().used(volume)).isLessThan(12L << 20);
            await(() -> volumes().usedBelow(volume.resolveSibling("")).getOrDefault(volume, 0L) >= 8L << 20);
        }

        private static void await(BooleanSupplier condition) throws InterruptedException {
            long end = System.nanoTime() + LIMIT.toNanos();
            while (!condition.getAsBoolean()) {
                assertThat(System.nanoTime()).as("in time").isLessThan(end);
                Thread.sleep(50);
            }
        }
    }

    @Nested
    class Subvolumes implements Contract {
        @TempDir
        Path state;

        private Pool pool;
        private Volumes volumes;

        @BeforeEach
        void mount() {
            var guest = GuestProgram.install(state.resolve("guest"));
            pool = Pool.open(state, 256, guest);
            volumes = new BtrfsVolumes(guest);
        }

        @AfterEach
        void unmount() {
            pool.unmount();
        }

        @Override
        public Volumes volumes() {
            return volumes;
        }

        @Override
        public Path directory() {
            return pool.directory("sandboxes");
        }
    }

    @Nested
    class Directories implements Contract {
        @TempDir
        Path directory;

        private final Volumes volumes = new DirectoryVolumes();

        @Override
        public Volumes volumes() {
            return volumes;
        }

        @Override
        public Path directory() {
            return directory;
        }
    }
}
