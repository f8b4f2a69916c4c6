package dev.cay.node.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.host.Programs;
import dev.cay.node.runtime.Command;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A real btrfs in a file; needs root.
@NeedsRoot
class PoolTest {
    private static final SandboxId ONE = new SandboxId("one");
    private static final SandboxId TWO = new SandboxId("two");
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    Path state;

    private Pool pool;

    @BeforeEach
    void open() {
        pool = reopen();
    }

    @AfterEach
    void unmount() {
        pool.unmount();
    }

    @Test
    void keepsLayersThroughAnUnmountAndFreesItsDevice() throws IOException {
        Path layer = pool.create(ONE, 50);
        Files.writeString(layer.resolve("upper/kept"), "yes");
        assertThat(devices()).contains(state.toString());

        pool.unmount();

        awaitFreeDevice();
        assertThat(layer).doesNotExist();
        pool = reopen();
        assertThat(pool.list()).containsExactly(ONE);
        assertThat(layer.resolve("upper/kept")).hasContent("yes");
        assertThat(reopen().list()).containsExactly(ONE);
    }

    /// A process that has just begun may still have a copy of all mounts of the host.
    private void awaitFreeDevice() {
        Await.until("the loop device is detached", () -> !devices().contains(state.toString()));
    }

    /// What root in a sandbox makes setuid belongs to root on the disk.
    @Test
    void keepsSetuidProgramsFromTheHostsUsers() throws IOException {
        Path program = pool.create(ONE, 50).resolve("upper/id");
        Files.copy(Path.of("/usr/bin/id"), program);
        run("chmod", "4755", program.toString());
        run("chmod", "711", state.toString());
        assertThat(asNobody(program)).contains("denied");

        // Each of the two would be enough.
        String place = state.resolve("pool").toString();
        run("chmod", "711", place);
        assertThat(asNobody(program)).contains("nobody").doesNotContain("euid");
        run("mount", "-o", "remount,suid", place);
        assertThat(asNobody(program)).as("and without both").contains("euid=0");
        run("chmod", "700", place);
        assertThat(asNobody(program)).contains("denied");
    }

    /// By a shell, as setpriv itself still has root's powers when it starts a program.
    private static String asNobody(Path program) {
        var words = List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c");
        var command = new ArrayList<>(words);
        command.add("exec " + program);
        return Programs.ofHost().run(LIMIT, "", command).output();
    }

    private static void run(String... command) {
        Programs.ofHost().require(LIMIT, command);
    }

    @Test
    void holdsEachLayerToItsOwnLimit() throws IOException {
        pool.create(ONE, 20);
        pool.create(TWO, 100);

        assertThatThrownBy(() -> fill(pool.layer(ONE), 40)).hasMessageContaining("quota exceeded");
        fill(pool.layer(TWO), 40);

        new Command("syncing", LIMIT, "sync", "-f", pool.layer(TWO).toString()).run();
        assertThat(pool.used(TWO)).isBetween(40L << 20, 45L << 20);
        assertThat(pool.used(ONE)).isLessThanOrEqualTo(20L << 20);
        assertThat(pool.limited()).isTrue();
    }

    @Test
    void copiesALayerThatThenGoesItsOwnWay() throws IOException {
        Path first = pool.create(ONE, 50);
        Files.writeString(first.resolve("upper/file"), "same");
        Object inode = Files.getAttribute(first.resolve("upper/file"), "unix:ino");

        Path saved = pool.directory("snapshots").resolve("disk");
        pool.save(ONE, saved, 50);
        Files.writeString(first.resolve("upper/file"), "changed");
        Path second = pool.bring(saved, TWO, 50);
        pool.deleteSaved(saved);

        assertThat(second.resolve("upper/file")).hasContent("same");
        assertThat(Files.getAttribute(second.resolve("upper/file"), "unix:ino")).isEqualTo(inode);
        pool.delete(ONE);
        pool.delete(ONE);
        assertThat(pool.list()).containsExactly(TWO);
    }

    @Test
    void refusesNewLayersWhenItIsNearlyFull() throws IOException {
        Path filler = pool.directory("layers");
        assertThatThrownBy(() -> fill(filler, 1000)).isInstanceOf(CayException.class);

        assertThatThrownBy(() -> pool.create(ONE, 20))
                .isInstanceOfSatisfying(
                        CayException.class, e -> assertThat(e.kind()).isEqualTo(ErrorKind.UNAVAILABLE))
                .hasMessageContaining("nearly full");
        assertThat(pool.list()).isEmpty();
    }

    @Test
    void growsWhileItIsUsed() throws IOException {
        Path layer = pool.create(ONE, 50);
        Files.writeString(layer.resolve("upper/kept"), "yes");
        long before = pool.free();

        new PoolDevice(state).grow(400L << 20);

        assertThat(report().size()).isEqualTo(400L << 20);
        assertThat(pool.free()).isGreaterThan(before + (100L << 20));
        assertThat(layer.resolve("upper/kept")).hasContent("yes");
        assertThat(report().sandboxes()).containsOnlyKeys(ONE);
        assertThat(report().file()).isEqualTo(state.resolve("pool.btrfs"));
        fill(pool.directory("layers"), 280);
    }

    @Test
    void growsWhileItIsNotMountedAndAfterAGrowthThatWasCutShort() {
        pool.unmount();
        new PoolDevice(state).grow(300L << 20);
        assertThat(report().mounted()).isFalse();
        assertThat(report().size()).isEqualTo(300L << 20);
        pool = reopen();
        assertThat(report().mounted()).isTrue();
        assertThat(report().size()).isEqualTo(300L << 20);

        // As if killed right after the file had grown.
        new Command(
                        "growing",
                        LIMIT,
                        "fallocate",
                        "-l",
                        "350M",
                        state.resolve("pool.btrfs").toString())
                .run();
        assertThat(report().size()).isEqualTo(300L << 20);
        reopen();
        assertThat(report().size()).isEqualTo(350L << 20);
    }

    @Test
    void refusesToGrowWhereThatIsImpossible() {
        assertThatThrownBy(() -> new PoolDevice(state).grow(100L << 20))
                .hasMessage("the pool has 256 MB already and cannot be made smaller");
        assertThatThrownBy(() -> new PoolDevice(state).grow(1L << 50)).hasMessageContaining("MB free, of which");
        assertThatThrownBy(() -> new PoolDevice(state.resolve("guest")).grow(1L << 30))
                .hasMessageContaining("there is no pool in");
        assertThat(report().size()).isEqualTo(256L << 20);
    }

    @Test
    void waitsForAProgramThatHasAFileOpenABitLonger() throws IOException {
        Path file = Files.writeString(pool.create(ONE, 50).resolve("upper/open"), "yes");
        var holder =
                new ProcessBuilder("sleep", "1").redirectInput(file.toFile()).start();
        pool.unmount();
        assertThat(holder.isAlive()).isFalse();
        awaitFreeDevice();
    }

    @Test
    void detachesADeviceThatAMountLeft() {
        pool.unmount();
        new Command(
                        "attaching",
                        LIMIT,
                        "losetup",
                        "-f",
                        state.resolve("pool.btrfs").toString())
                .run();
        assertThat(devices()).contains(state.toString());
        pool = reopen();
        assertThat(devices().lines().filter(line -> line.contains(state.toString())))
                .hasSize(1);
    }

    private PoolDevice.Report report() {
        return new PoolDevice(state).report(GuestProgram.install(state.resolve("guest")));
    }

    private Pool reopen() {
        return Pool.open(state, 256, GuestProgram.install(state.resolve("guest")));
    }

    private static void fill(Path directory, int megabytes) {
        new Command(
                        "filling",
                        LIMIT,
                        "dd",
                        "if=/dev/urandom",
                        "of=" + directory.resolve("filler"),
                        "bs=1M",
                        "count=" + megabytes,
                        "conv=fsync")
                .run();
    }

    private static String devices() {
        return new Command("listing loop devices", LIMIT, "losetup", "--all", "--output", "BACK-FILE").run();
    }
}
