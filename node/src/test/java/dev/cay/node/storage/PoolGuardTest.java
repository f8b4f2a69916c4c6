package dev.cay.node.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.host.Programs;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import dev.cay.wire.VolumeId;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// One sandbox writes all it can into a pool that is smaller than its limit. A real btrfs in a file; needs root.
@Timeout(300)
@NeedsRoot
class PoolGuardTest {
    private static final SandboxId WRITER = new SandboxId("writer");
    private static final SandboxId NEIGHBOUR = new SandboxId("neighbour");
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final int DISK_MB = 4000;
    private static final long MEMORY = 200L << 20;

    @TempDir
    Path state;

    private Pool pool;
    private final Set<SandboxId> stopped = ConcurrentHashMap.newKeySet();

    @BeforeEach
    void open() throws Exception {
        openPool();
        pool.create(WRITER, DISK_MB);
        Path mine = pool.create(NEIGHBOUR, DISK_MB);
        Files.writeString(mine.resolve("upper/mine"), "mine");
    }

    private void openPool() {
        pool = Pool.open(state, 1024, GuestProgram.install(state.resolve("guest")));
    }

    @AfterEach
    void unmount() {
        pool.unmount();
    }

    private PoolGuard guard() {
        long limit = (long) DISK_MB << 20;
        var guard = new PoolGuard(pool, () -> Map.of(WRITER, limit, NEIGHBOUR, limit), (id, _) -> stopped.add(id));
        guard.start();
        return guard;
    }

    @Test
    void whoFillsThePoolIsStoppedAndWritesAgainWhenThereIsRoom() throws Exception {
        pool.holdBack(Map.of(NEIGHBOUR, MEMORY));
        try (var _ = guard()) {
            assertThat(fill(WRITER)).containsAnyOf("Disk quota exceeded", "No space left");
            Await.until("the writer is stopped", () -> stopped.contains(WRITER));
            Await.until(
                    "the writer gets an error",
                    () -> write(WRITER, "upper/more", 64).contains("Disk quota exceeded"));
            try (var _ = pool.roomFor(NEIGHBOUR, MEMORY)) {
                assertThat(dd(pool.directory("snapshots").resolve("memory"), (int) (MEMORY >> 20)))
                        .contains("209715200 bytes");
            }
            Files.delete(pool.directory("snapshots").resolve("memory"));
            Files.delete(pool.layer(WRITER).resolve("upper/filler"));
            pool.sync();
            Await.until(
                    "the writer can write again",
                    () -> write(WRITER, "upper/more", 64).contains("67108864 bytes"));
        }
    }

    /// A volume may be larger than the pool has room for, and no sandbox need be there to be stopped.
    @Test
    void aVolumeThatFillsThePoolCannotGrowUntilThereIsRoom() throws Exception {
        var id = VolumeId.random();
        pool.volumes().create(id, (long) DISK_MB << 20);
        Path place = pool.volumes().place(id);
        pool.holdBack(Map.of(NEIGHBOUR, MEMORY));
        try (var _ = guard()) {
            assertThat(dd(place.resolve("filler"), DISK_MB)).containsAnyOf("Disk quota exceeded", "No space left");
            Await.until(
                    "writes to the volume fail",
                    () -> dd(place.resolve("more"), 64).contains("Disk quota exceeded"));
            assertThat(pool.space().spare()).as("what is nobody's").isPositive();
            Files.delete(place.resolve("filler"));
            pool.sync();
            Await.until(
                    "writes to the volume work again",
                    () -> dd(place.resolve("more"), 64).contains("67108864 bytes"));
        }
        assertThat(pool.volumes().used()).containsKey(id);
    }

    @Test
    void whoHoldsLittleGoesOnWriting() throws Exception {
        new PoolDevice(state).grow(2L << 30);
        assertThat(write(WRITER, "upper/filler", 40)).contains("bytes");
        pool.holdBack(Map.of(NEIGHBOUR, 2L << 30));
        try (var _ = guard()) {
            int steps = 0;
            while (write(WRITER, "upper/step" + steps, 4).contains("4194304 bytes")) {
                assertThat(steps++).as("steps of 4 MB").isLessThan(100);
                Thread.sleep(100);
            }
            Await.until("the writer is stopped", () -> stopped.contains(WRITER));
            Await.until(
                    "the neighbour can write",
                    () -> write(NEIGHBOUR, "upper/more", 1).contains("1048576 bytes"));
            assertThat(stopped).containsExactly(WRITER);
        }
    }

    @Test
    void manySmallFilesLeaveRoomForMetadata() throws Exception {
        pool.holdBack(Map.of(NEIGHBOUR, 3 * MEMORY));
        try (var _ = guard()) {
            String script =
                    "cd %s; for i in $(seq 1 30); do head -c 60000000 /dev/zero | split -a 5 -b 1900 - $i. || exit; done"
                            .formatted(pool.layer(WRITER).resolve("upper"));
            var result = Programs.ofHost().run(LIMIT, "sh", "-c", script);
            assertThat(result.output()).containsAnyOf("Disk quota exceeded", "No space left");
            pool.delete(WRITER);
            pool.sync();
            Await.until(
                    "the neighbour can write 64 MB",
                    () -> write(NEIGHBOUR, "upper/more", 64).contains("67108864 bytes"));
        }
    }

    @Test
    void limitsAreFollowedWhenTheyChange() throws Exception {
        var limits = new ConcurrentHashMap<>(Map.of(WRITER, 40L << 20, NEIGHBOUR, (long) DISK_MB << 20));
        try (var guard = new PoolGuard(pool, () -> Map.copyOf(limits), (id, _) -> stopped.add(id))) {
            guard.start();
            assertThat(write(WRITER, "upper/much", 64)).contains("Disk quota exceeded");
            assertThat(write(NEIGHBOUR, "upper/much", 64)).contains("67108864 bytes");
            limits.put(WRITER, 200L << 20);
            Await.until(
                    "the writer can write 64 MB",
                    () -> write(WRITER, "upper/much", 64).contains("67108864 bytes"));
            limits.put(WRITER, 1L);
            Await.until(
                    "the writer reaches its new limit",
                    () -> write(WRITER, "upper/more", 64).contains("Disk quota exceeded"));
        }
    }

    /// Without the guard a writer fills the pool. Whoever saves another sandbox, or takes a snapshot, finds no room.
    @Test
    void whatIsHeldBackIsForOneSandbox() {
        pool.holdBack(Map.of(NEIGHBOUR, MEMORY));
        assertThat(fill(WRITER)).contains("No space left");
        assertThatThrownBy(() -> pool.roomFor(WRITER, MEMORY)).hasMessageContaining("no room to save");
        assertThatThrownBy(() -> pool.room(MEMORY)).hasMessageContaining("no room to save");
        pool.roomFor(NEIGHBOUR, MEMORY).close();
    }

    /// While a sandbox is saved the node says again for whom room is to be kept.
    @Test
    void whatIsSpentIsNotTakenBackMeanwhile() {
        pool.holdBack(Map.of(NEIGHBOUR, MEMORY));
        long before = heldBack();
        try (var _ = pool.roomFor(NEIGHBOUR, MEMORY)) {
            pool.holdBack(Map.of(NEIGHBOUR, MEMORY));
            assertThat(heldBack()).isZero();
        }
        pool.holdBack(Map.of(NEIGHBOUR, MEMORY));
        assertThat(heldBack()).isEqualTo(before).isGreaterThanOrEqualTo(MEMORY);
        pool.holdBack(Map.of());
        assertThat(heldBack()).isZero();
    }

    @Test
    void aLayerThatCannotGrowIsSavedAndBroughtBack() throws Exception {
        assertThat(write(WRITER, "upper/filler", 64)).contains("67108864 bytes");
        pool.sync();
        pool.limit(WRITER, 1);
        Path saved = pool.directory("snapshots").resolve("saved");
        pool.save(WRITER, saved, DISK_MB);
        var again = new SandboxId("again");
        pool.bring(saved, again, DISK_MB);
        assertThat(write(again, "upper/more", 64)).contains("67108864 bytes");
    }

    /// A killed daemon leaves what it held back and the limits that it lowered.
    @Test
    void theNextDaemonGoesOn() throws Exception {
        pool.holdBack(Map.of(NEIGHBOUR, MEMORY));
        pool.limit(WRITER, 1);
        assertThat(write(WRITER, "upper/more", 64)).contains("Disk quota exceeded");
        openPool();
        pool.roomFor(NEIGHBOUR, MEMORY).close();
        assertThat(heldBack()).isZero();
        try (var _ = guard()) {
            assertThat(write(WRITER, "upper/more", 64)).contains("67108864 bytes");
        }
    }

    private long heldBack() {
        return new PoolDevice(state)
                .report(GuestProgram.install(state.resolve("guest")))
                .heldBack();
    }

    private String write(SandboxId id, String file, int megabytes) {
        return dd(pool.layer(id).resolve(file), megabytes);
    }

    private static String dd(Path file, int megabytes) {
        String[] words = {"dd", "if=/dev/zero", "of=" + file, "bs=1M", "count=" + megabytes, "conv=fsync"};
        return Programs.ofHost().run(LIMIT, words).output();
    }

    private String fill(SandboxId id) {
        return write(id, "upper/filler", 2000);
    }
}
