package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.runtime.Fill;
import dev.cay.node.runtime.FillSettings;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.ProbeFile;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Durability;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.SandboxSpec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A sandbox that is restored without its memory gets all of it back while it runs, whatever ends meanwhile.
@NeedsRoot
class FillTest extends NodeTest {
    private static final SandboxId ID = new SandboxId("filled");
    private static final int MEGABYTES = 64;
    private static final String PAGES = MEGABYTES * 256 + " pages 0 wrong";

    /// So slow that a test does what it wants before everything is in.
    private static final FillSettings SLOW = new FillSettings(true, 0, Duration.ofMillis(100));

    private static final FillSettings FAST = new FillSettings(true, 0, Duration.ZERO);

    /// Where `report` of the filler has these numbers.
    private static final int READING = 8;

    private static final int HOLDER = 16;
    private static final int FILLER = 20;

    @BeforeEach
    void program() throws Exception {
        var directory = Files.createDirectories(place.directory().resolve("cache/layers/probe/rootfs/usr/bin"));
        ProbeFile.unpack(directory);
    }

    private void reopen(FillSettings filling) throws Exception {
        node.close();
        place.filling().set(filling);
        node = new TestNode(place);
    }

    private void begin(FillSettings filling, String mode, int limitMB) throws Exception {
        reopen(filling);
        node.keepers.create(new SandboxSpec(
                ID,
                TestNode.spec("filled").templateId(),
                List.of("probe", "base"),
                new Resources(1, limitMB, 200),
                Map.of(),
                null,
                "root",
                "/tmp",
                Egress.open(),
                null));
        node.start("filled", "mkdir /known; exec cay-probe %s /known".formatted(mode));
        await(() -> node.run("filled", "cat /known/ready").equals("ready"));
    }

    private void begin(FillSettings filling) throws Exception {
        begin(filling, "remember " + MEGABYTES, 256);
    }

    private void pause() throws Exception {
        node.keepers.pause(ID, Keep.MEMORY);
        await(() -> !Files.exists(node.host.pool().layer(ID)));
    }

    private Fill fill() {
        return node.runc.fill(ID);
    }

    private void awaitFilled() throws Exception {
        await(() -> !fill().isUnderWay());
        assertThat(fill().stage()).isEqualTo(Fill.Stage.DONE);
    }

    private String check() throws Exception {
        node.run("filled", "rm -f /known/told; touch /known/ask");
        await(() -> node.run("filled", "cat /known/told").contains("wrong"));
        return node.run("filled", "cat /known/told");
    }

    private Path report() {
        return place.directory().resolve("run/bundles/filled/fill");
    }

    private int reported(int at) throws IOException {
        return ByteBuffer.wrap(Files.readAllBytes(report()))
                .order(ByteOrder.nativeOrder())
                .getInt(at);
    }

    private static void signal(String name, long pid) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(pid))
                        .start()
                        .waitFor())
                .isZero();
    }

    private static boolean lives(long pid) throws IOException {
        try {
            return !Files.readString(Path.of("/proc", Long.toString(pid), "stat"))
                    .contains(") Z ");
        } catch (IOException gone) {
            return false;
        }
    }

    /// Ends a process at a moment when it does not read an event, as nearly all moments are.
    private void killBetweenEvents(int which) throws Exception {
        int pid = reported(which);
        while (true) {
            signal("STOP", pid);
            Thread.sleep(5);
            if (reported(READING) == 0) {
                signal("KILL", pid);
                return;
            }
            signal("CONT", pid);
            Thread.sleep(5);
        }
    }

    private List<String> snapshots() throws IOException {
        try (var list = Files.list(node.host.pool().directory("snapshots"))) {
            return list.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void allMemoryIsAsItWasAndTheFillerIsGone() throws Exception {
        begin(FAST);
        pause();
        node.keepers.resume(ID, true);
        assertThat(fill().stage()).isNotEqualTo(Fill.Stage.NONE);
        assertThat(check()).startsWith(PAGES);
        awaitFilled();
        assertThat(fill().copied()).isGreaterThanOrEqualTo(MEGABYTES * 256);
        await(() -> snapshots().isEmpty());
        int holder = reported(HOLDER);
        int filler = reported(FILLER);
        await(() -> !lives(holder) && !lives(filler));
        assertThat(SandboxNotes.folder(place.records(), ID).resolve("filled-from"))
                .doesNotExist();
        assertThat(SandboxNotes.folder(place.records(), ID).resolve("touched")).isNotEmptyFile();
        assertThat(check()).startsWith(PAGES);
    }

    @Test
    void twoPausesInARowAndOneOfASandboxThatIsNotFilled() throws Exception {
        begin(SLOW);
        pause();
        node.keepers.resume(ID, true);
        assertThat(fill().isUnderWay()).isTrue();
        // The second waits until all of the first is in.
        pause();
        node.keepers.resume(ID, true);
        assertThat(check()).startsWith(PAGES);
    }

    @Test
    void noProcessInsideHoldsADescriptorOfIt() throws Exception {
        begin(SLOW);
        pause();
        node.keepers.resume(ID, true);
        assertThat(fill().isUnderWay()).isTrue();
        assertThat(node.run("filled", "ls -l /proc/[0-9]*/fd")).contains("pipe").doesNotContain("userfaultfd");
        // The filler itself holds them, so the search would have found one.
        assertThat(descriptors(reported(FILLER))).anyMatch(name -> name.contains("userfaultfd"));
        assertThat(descriptors(reported(FILLER))).noneMatch(name -> name.contains("/dev/userfaultfd"));
        assertThat(descriptors(reported(HOLDER))).isEqualTo(descriptors(reported(FILLER)));
    }

    private static List<String> descriptors(int pid) throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc", Integer.toString(pid), "fd"))) {
            return all.map(FillTest::target).sorted().toList();
        }
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException gone) {
            return "";
        }
    }

    @Test
    void theFillerCanOpenNothing() throws Exception {
        begin(SLOW);
        pause();
        node.keepers.resume(ID, true);
        for (int which : List.of(HOLDER, FILLER)) {
            int pid = reported(which);
            await(() -> status(pid).contains("Seccomp:\t2"));
        }
        assertThat(check()).startsWith(PAGES);
    }

    @Test
    void theFillerHasNoPrivilegesAndOnlyTheFilesOfItsSandbox() throws Exception {
        begin(SLOW);
        pause();
        node.keepers.resume(ID, true);
        for (int which : List.of(HOLDER, FILLER)) {
            int pid = reported(which);
            await(() -> status(pid).contains("NoNewPrivs:\t1"));
            assertThat(status(pid)).contains("CapEff:\t0000000000000000", "CapPrm:\t0000000000000000");
            assertThat(status(pid)).containsPattern("Uid:\t(\\d{6,})\t\\1\t\\1\t\\1");
            assertThat(descriptors(pid))
                    .allMatch(name -> name.contains("userfaultfd")
                            || name.contains("/snapshots/filled.1/")
                            || name.contains("pidfd")
                            || name.contains("eventfd")
                            || name.equals("/dev/null")
                            || name.endsWith("/touched"));
        }
    }

    private static String status(int pid) throws IOException {
        return Files.readString(Path.of("/proc", Integer.toString(pid), "status"));
    }

    @Test
    void anotherFillerTakesOverWhenOneIsKilled() throws Exception {
        begin(SLOW);
        pause();
        node.keepers.resume(ID, true);
        int first = reported(FILLER);
        killBetweenEvents(FILLER);
        await(() -> reported(FILLER) != first);
        killBetweenEvents(FILLER);
        assertThat(check()).startsWith(PAGES);
        awaitFilled();
        assertThat(check()).startsWith(PAGES);
    }

    @Test
    void anotherHolderTakesOverWhenOneIsKilled() throws Exception {
        begin(SLOW);
        pause();
        node.keepers.resume(ID, true);
        int first = reported(HOLDER);
        signal("KILL", first);
        await(() -> reported(HOLDER) != first && lives(reported(HOLDER)));
        int filler = reported(FILLER);
        killBetweenEvents(FILLER);
        await(() -> reported(FILLER) != filler);
        assertThat(check()).startsWith(PAGES);
        awaitFilled();
    }

    @Test
    void isEndedWhenTheFillerDiesWhileItReadsAnEvent() throws Exception {
        begin(SLOW);
        pause();
        node.keepers.resume(ID, true);
        int filler = reported(FILLER);
        signal("STOP", filler);
        try (var channel = FileChannel.open(report(), StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(0, 1), READING);
        }
        signal("KILL", filler);
        await(() -> node.keepers.find(ID).isEmpty());
    }

    @Test
    void isEndedWhenBothAreKilled() throws Exception {
        begin(SLOW);
        pause();
        node.keepers.resume(ID, true);
        int filler = reported(FILLER);
        signal("STOP", filler);
        signal("KILL", reported(HOLDER));
        signal("KILL", filler);
        await(() -> node.keepers.find(ID).isEmpty());
        await(() -> snapshots().isEmpty());
    }

    @Test
    void theNextDaemonFindsASandboxThatIsBeingFilled() throws Exception {
        begin(SLOW);
        pause();
        node.keepers.resume(ID, true);
        node.close();
        node = new TestNode(place);
        assertThat(fill().isUnderWay()).isTrue();
        assertThat(snapshots()).contains("filled.1");
        node.keepers.tidy();
        assertThat(snapshots()).contains("filled.1");
        assertThat(check()).startsWith(PAGES);
        awaitFilled();
        await(() -> {
            node.keepers.tidy();
            return snapshots().isEmpty();
        });
        assertThat(check()).startsWith(PAGES);
    }

    @Test
    void theNextDaemonEndsASandboxWhoseFillersDiedMeanwhile() throws Exception {
        begin(SLOW);
        pause();
        node.keepers.resume(ID, true);
        node.close();
        signal("STOP", reported(FILLER));
        signal("KILL", reported(HOLDER));
        signal("KILL", reported(FILLER));
        node = new TestNode(place);
        await(() -> node.keepers.find(ID).isEmpty());
    }

    @Test
    void copiesAndGoesBackWhileItIsFilled() throws Exception {
        begin(SLOW);
        node.keepers.snapshot(ID, "known", Keep.MEMORY);
        node.keepers.rollback(ID, "known");
        assertThat(fill().isUnderWay()).isTrue();
        node.keepers.deleteSnapshot("known");
        assertThat(node.keepers.snapshots()).isEmpty();
        // Its files stay as long as they are needed.
        assertThat(snapshots()).contains("known");
        node.keepers.snapshot(ID, "later", Keep.MEMORY);
        await(() -> !snapshots().contains("known"));
        node.keepers.rollback(ID, "later");
        assertThat(check()).startsWith(PAGES);
    }

    @Test
    void canBeKilledWhileItIsFilled() throws Exception {
        begin(SLOW);
        pause();
        node.keepers.resume(ID, true);
        int holder = reported(HOLDER);
        int filler = reported(FILLER);
        node.keepers.kill(ID);
        assertThat(lives(holder) || lives(filler)).isFalse();
        assertThat(node.cgroups("filled")).isEmpty();
        await(() -> snapshots().isEmpty());
    }

    @Test
    void memoryThatIsJustEnoughIsEnough() throws Exception {
        begin(FAST, "remember " + MEGABYTES, MEGABYTES + 40);
        pause();
        node.keepers.resume(ID, true);
        assertThat(check()).startsWith(PAGES);
        awaitFilled();
        assertThat(check()).startsWith(PAGES);
    }

    /// What a program does to its memory while it comes back harms neither it nor the filler.
    @Test
    void aProgramThatTearsItsMemoryToPiecesKeepsIt() throws Exception {
        begin(new FillSettings(true, 0, Duration.ofMillis(5)), "tear 16", 256);
        pause();
        node.keepers.resume(ID, true);
        node.run("filled", "touch /known/ask");
        awaitFilled();
        await(() -> node.run("filled", "cat /known/told").matches("[1-9]\\d* rounds .*"));
        node.run("filled", "touch /known/end");
        await(() -> node.run("filled", "cat /known/ended").contains("rounds"));
        assertThat(node.run("filled", "cat /known/ended")).endsWith(" rounds 0 wrong");
    }

    /// CRIU connects what programs had connected, under names that these chose.
    @Test
    void aProgramWhoseSocketHasTheNameOfTheFillersIsRestoredLikeAnother() throws Exception {
        begin(FAST, "waylay " + MEGABYTES, 256);
        pause();
        node.keepers.resume(ID, true);
        assertThat(check()).startsWith(PAGES);
        awaitFilled();
        reopen(FillSettings.OFF);
        pause();
        node.keepers.resume(ID, true);
        assertThat(check()).startsWith(PAGES);
    }

    @Test
    void oneThatIsPausedWhenItsMemoryIsLostKeepsItsFiles() throws Exception {
        begin(SLOW);
        pause();
        node.keepers.resume(ID, true);
        node.run("filled", "echo kept > /note");
        node.keepers.pause(ID, Keep.MEMORY, Durability.FROZEN);
        int holder = reported(HOLDER);
        int filler = reported(FILLER);
        signal("STOP", filler);
        signal("KILL", holder);
        signal("KILL", filler);
        await(() -> !lives(holder) && !lives(filler));
        // Which of the two comes first, the resume or the next try to save it, makes no difference.
        assertThatThrownBy(() -> node.keepers.resume(ID, true)).hasMessageContaining("memory was lost");
        var saved = Objects.requireNonNull(node.keepers.find(ID).orElseThrow().saved());
        assertThat(saved.memory()).isFalse();
        assertThat(saved.toString()).contains("some of its memory was lost");
        node.keepers.resume(ID, false);
        assertThat(node.run("filled", "cat /note")).isEqualTo("kept");
    }

    @Test
    void nothingIsFilledWhenItIsSwitchedOff() throws Exception {
        begin(FillSettings.OFF);
        pause();
        node.keepers.resume(ID, true);
        assertThat(fill().stage()).isEqualTo(Fill.Stage.NONE);
        assertThat(report()).doesNotExist();
        assertThat(check()).startsWith(PAGES);
    }
}
