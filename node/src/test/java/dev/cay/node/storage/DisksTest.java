package dev.cay.node.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.host.Programs;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What every kind of disks does: the same tests for subvolumes of a real btrfs and for plain directories.
@NeedsRoot
class DisksTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long BYTES = 50L << 20;

    /// Each test has disks and an empty directory for them.
    private interface Contract {
        Disks disks();

        Path directory();

        @Test
        default void makesADiskThatOverlayfsCanUse() throws IOException {
            Path disk = directory().resolve("one");
            disks().create(disk, BYTES);
            assertThat(disk.resolve("upper")).isEmptyDirectory();
            assertThat(disk.resolve("work")).isEmptyDirectory();
            assertThat(Files.getPosixFilePermissions(disk.resolve("upper"))).hasSize(7);
            assertThatThrownBy(() -> disks().create(disk, BYTES)).isInstanceOf(CayException.class);
        }

        @Test
        default void copiesWhatIsThereAndTheCopyGoesItsOwnWay() throws IOException {
            Path one = directory().resolve("one");
            disks().create(one, BYTES);
            Files.writeString(one.resolve("upper/file"), "same");
            Files.createSymbolicLink(one.resolve("upper/link"), Path.of("file"));
            Programs.ofHost().require(LIMIT, "mknod", one.resolve("upper/gone").toString(), "c", "0", "0");
            Path two = directory().resolve("two");

            disks().copy(one, two, BYTES);
            Files.writeString(one.resolve("upper/file"), "changed");

            assertThat(two.resolve("upper/file")).hasContent("same");
            assertThat(Files.readSymbolicLink(two.resolve("upper/link"))).isEqualTo(Path.of("file"));
            assertThat(Files.getAttribute(two.resolve("upper/gone"), "unix:rdev"))
                    .as("what overlayfs keeps of a deleted file")
                    .isEqualTo(0L);
        }

        @Test
        default void deletesADiskHoweverDeepItIs() throws IOException {
            Path disk = directory().resolve("one");
            disks().create(disk, BYTES);
            Files.createDirectories(disk.resolve("upper" + "/deep".repeat(200)));
            disks().delete(disk);
            assertThat(disk).doesNotExist();
        }

        @Test
        default void countsWhatADiskHolds() throws Exception {
            Path disk = directory().resolve("one");
            disks().create(disk, BYTES);
            Files.write(disk.resolve("upper/file"), new byte[8 << 20]);
            Programs.ofHost().require(LIMIT, "sync", "-f", disk.toString());
            Await.until("the disk counts 8 MB", () -> disks().used(disk) >= 8L << 20);
            assertThat(disks().used(disk)).isLessThan(12L << 20);
            Await.until(
                    "the listing of disks counts 8 MB",
                    () -> disks().usedBelow(disk.resolveSibling("")).getOrDefault(disk, 0L) >= 8L << 20);
        }
    }

    @Nested
    class Subvolumes implements Contract {
        @TempDir
        Path state;

        private Pool pool;
        private Disks disks;
        private GuestProgram guest;

        @BeforeEach
        void mount() {
            guest = GuestProgram.install(state.resolve("guest"));
            pool = Pool.open(state, 256, guest);
            disks = new BtrfsDisks(guest);
        }

        @AfterEach
        void unmount() {
            pool.unmount();
        }

        @Override
        public Disks disks() {
            return disks;
        }

        @Override
        public Path directory() {
            return pool.directory("sandboxes");
        }

        private void plant(Path... places) {
            for (Path place : places) {
                Programs.ofHost().require(LIMIT, "btrfs", "subvolume", "create", place.toString());
            }
        }

        /// As a sandbox could leave them in a volume: with any name, in each other, and read-only.
        @Test
        void deletesADiskWithSubvolumesInIt() throws IOException {
            Path disk = directory().resolve("one");
            Path other = directory().resolve("other");
            disks.create(disk, BYTES);
            disks.create(other, BYTES);
            plant(other.resolve("inner"));
            Files.writeString(other.resolve("inner/file"), "mine");
            Path upper = disk.resolve("upper");
            Path longest = upper.resolve("n".repeat(255));
            Path odd = Files.createDirectories(upper.resolve("dir" + "/deep".repeat(50)))
                    .resolve("..\n-rf ~");
            Path fixed = upper.resolve("fixed");
            plant(longest, odd, odd.resolve("a"), odd.resolve("a/b"), odd.resolve("a/c"), fixed, fixed.resolve("in"));
            Files.createSymbolicLink(fixed.resolve("away"), other);
            Files.createSymbolicLink(upper.resolve("inner"), other.resolve("inner"));
            for (Path each : new Path[] {fixed.resolve("in"), fixed}) {
                Programs.ofHost().require(LIMIT, "btrfs", "property", "set", "-ts", each.toString(), "ro", "true");
            }

            disks.delete(disk);

            assertThat(disk).doesNotExist();
            assertThat(other.resolve("inner/file")).hasContent("mine");
            disks.delete(other);
            assertThat(other).doesNotExist();
        }

        /// Else one volume would keep the whole machine from being backed up.
        @Test
        void aBackupOfACopyLeavesSubvolumesInItOut() throws IOException {
            Path disk = directory().resolve("one");
            Path copy = directory().resolve("copy");
            Path back = directory().resolve("back");
            disks.create(disk, BYTES);
            Files.writeString(disk.resolve("upper/file"), "text");
            plant(disk.resolve("upper/first"), disk.resolve("upper/second"));
            disks.copy(disk, copy, BYTES);
            var trees = new TreeStream(guest);
            var packed = new ByteArrayOutputStream();

            trees.pack(copy, packed);
            disks.createEmpty(back, BYTES);
            trees.unpack(back, true, new ByteArrayInputStream(packed.toByteArray()));

            assertThat(back.resolve("upper/file")).hasContent("text");
            try (var files = Files.list(back.resolve("upper"))) {
                assertThat(files).hasSize(1);
            }
        }

        @Test
        void deletesSoManySubvolumesAtATime() throws IOException {
            Path disk = directory().resolve("one");
            disks.create(disk, BYTES);
            plant(IntStream.range(0, 1050)
                    .mapToObj(number -> disk.resolve("upper/" + number))
                    .toArray(Path[]::new));
            assertThatThrownBy(() -> disks.delete(disk)).hasMessageContaining("1000 are deleted, try again");
            try (var left = Files.list(disk.resolve("upper"))) {
                assertThat(left).hasSize(50);
            }
            disks.delete(disk);
            assertThat(disk).doesNotExist();
        }
    }

    @Nested
    class Directories implements Contract {
        @TempDir
        Path directory;

        private final Disks disks = new DirectoryDisks();

        @Override
        public Disks disks() {
            return disks;
        }

        @Override
        public Path directory() {
            return directory;
        }
    }
}
