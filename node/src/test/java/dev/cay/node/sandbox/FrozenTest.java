package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Durability;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.Saved;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// A paused sandbox is frozen in memory, saved meanwhile, and goes on from there as long as there is room.
@NeedsRoot
class FrozenTest extends NodeTest {
    private static final SandboxId ID = new SandboxId("sleeper");
    private static final int ROOM_MB = 4096;
    private static final String COUNTER = "i=0; while true; do i=$((i+1)); echo $i >> /count; sleep 0.02; done";

    private static final String IN_FLIGHT = """
            python3 -c "
            import os, socket, time
            server = socket.socket(); server.bind(('127.0.0.1', 0)); server.listen(8)
            client = socket.create_connection(server.getsockname())
            open('/connected', 'w').write('yes')
            while not os.path.exists('/accept'): time.sleep(0.05)
            one, _ = server.accept(); open('/connected', 'w').write('accepted')
            time.sleep(1000)
            "
            """;

    /// What the node told of sandboxes that were paused before they were saved.
    private final List<Saved> told = new CopyOnWriteArrayList<>();

    /// Stands in the way of checkpoints.
    private volatile @Nullable CayException obstacle;

    private void reopen(UnaryOperator<ContainerRuntime> around, int roomMB) throws Exception {
        node.close();
        open(around, roomMB);
    }

    private void open(UnaryOperator<ContainerRuntime> around, int roomMB) throws Exception {
        node = TestNode.freezing(place, around, roomMB);
        node.keepers.onSaved((_, saved) -> told.add(saved));
    }

    private void begin(String id) throws Exception {
        node.keepers.create(TestNode.spec(id));
        node.start(id, COUNTER);
        await(() -> count(id) > 3);
    }

    private int count(String id) throws Exception {
        String text = node.run(id, "tail -n 1 /count");
        return text.isEmpty() || !text.chars().allMatch(Character::isDigit) ? 0 : Integer.parseInt(text);
    }

    /// Each number is there once: nothing ran twice, or from an older state.
    private void assertGoesOn(String id) throws Exception {
        int now = count(id);
        await(() -> count(id) > now);
        assertThat(
                        node.run(
                                id,
                                "sort -n /count | uniq -d | wc -l; wc -l < /count | xargs -I{} sh -c 'seq {} | cmp -n $(seq {} | wc -c) - /count && echo whole'"))
                .startsWith("0")
                .contains("whole");
    }

    private int pid(String id) {
        return node.runc.find(new SandboxId(id)).orElseThrow().pid();
    }

    private @Nullable Saved kept() {
        return node.keepers.find(ID).orElseThrow().saved();
    }

    private static void wait(CountDownLatch latch) {
        Await.until("the other thread gets there", latch);
    }

    private ContainerRuntime hindered(ContainerRuntime real) {
        return new RuntimeAround(real) {
            @Override
            public void checkpoint(SandboxId id, Path images, After after) {
                var stands = obstacle;
                if (stands != null) {
                    throw stands;
                }
                super.checkpoint(id, images, after);
            }
        };
    }

    @Test
    void isAnsweredWhenFrozenAndSavedBehind() throws Exception {
        reopen(runtime -> runtime, ROOM_MB);
        begin("sleeper");
        int pid = pid("sleeper");
        assertThat(node.keepers.pause(ID, Keep.MEMORY, Durability.FROZEN)).isEqualTo(Saved.FROZEN);
        await(() -> Saved.WHOLE.equals(kept()));
        await(() -> told.equals(List.of(Saved.WHOLE)));

        assertThat(node.host.plan().taken()).as("it stays in its slot").isEqualTo(1);
        node.keepers.resume(ID, true);
        assertThat(pid("sleeper")).isEqualTo(pid);
        assertGoesOn("sleeper");

        for (int round = 0; round < 3; round++) {
            node.keepers.pause(ID, Keep.MEMORY_IF_POSSIBLE, Durability.FROZEN);
            node.keepers.resume(ID, true);
        }
        assertGoesOn("sleeper");
        assertThat(node.keepers.pause(ID, Keep.MEMORY, Durability.FROZEN)).isEqualTo(Saved.FROZEN);
        assertThat(node.keepers.pause(ID, Keep.MEMORY, Durability.SAVED)).isEqualTo(Saved.WHOLE);
        node.keepers.kill(ID);
        assertThat(node.traces("sleeper", 0)).isEmpty();
    }

    /// A dump that writes memory only after it was told to give up.
    private ContainerRuntime lateDump(ContainerRuntime real, CountDownLatch begun, List<CayException> failures) {
        return new RuntimeAround(real) {
            private final CountDownLatch givenUp = new CountDownLatch(1);

            @Override
            public void checkpoint(SandboxId id, Path images, After after) {
                begun.countDown();
                FrozenTest.wait(givenUp);
                try {
                    super.checkpoint(id, images, after);
                } catch (CayException e) {
                    failures.add(e);
                    throw e;
                }
            }

            @Override
            public void giveUpCheckpoint(SandboxId id) {
                super.giveUpCheckpoint(id);
                givenUp.countDown();
            }
        };
    }

    @Test
    void aResumeGivesTheDumpUpAndThaws() throws Exception {
        var begun = new CountDownLatch(1);
        var failures = new CopyOnWriteArrayList<CayException>();
        reopen(runtime -> lateDump(runtime, begun, failures), ROOM_MB);
        begin("sleeper");
        int pid = pid("sleeper");
        node.keepers.pause(ID, Keep.MEMORY, Durability.FROZEN);
        FrozenTest.wait(begun);
        assertThat(node.keepers.resume(ID, true).saved()).isNull();
        assertThat(failures).as("CRIU did not write all of it").hasSize(1);
        assertThat(pid("sleeper")).isEqualTo(pid);
        assertThat(told).as("that is no failure of its save").isEmpty();
        assertGoesOn("sleeper");

        node.keepers.pause(ID, Keep.MEMORY, Durability.FROZEN);
        await(() -> Saved.WHOLE.equals(kept()));
        assertThat(failures).hasSize(1);
        node.keepers.resume(ID, true);
        assertGoesOn("sleeper");
    }

    @Test
    void aDaemonThatStopsLeavesWhatItCannotSaveInTimeFrozen() throws Exception {
        var begun = new CountDownLatch(1);
        var failures = new CopyOnWriteArrayList<CayException>();
        reopen(runtime -> lateDump(runtime, begun, failures), ROOM_MB);
        begin("sleeper");
        int pid = pid("sleeper");
        node.keepers.pause(ID, Keep.MEMORY, Durability.FROZEN);
        int counted = countOutside();
        FrozenTest.wait(begun);
        assertThat(node.keepers.endUnclaimed()).as("nothing is left in memory").isFalse();
        assertThat(failures).hasSize(1);
        node.close();
        assertThat(countOutside()).as("no program ran").isEqualTo(counted);
        open(runtime -> runtime, ROOM_MB);
        await(() -> Saved.WHOLE.equals(kept()));
        node.keepers.resume(ID, true);
        assertThat(pid("sleeper")).isEqualTo(pid);
        assertGoesOn("sleeper");
    }

    @Test
    void aKillDoesNotWaitForTheDump() throws Exception {
        var begun = new CountDownLatch(1);
        reopen(
                runtime -> new RuntimeAround(runtime) {
                    @Override
                    public void checkpoint(SandboxId id, Path images, After after) {
                        begun.countDown();
                        super.checkpoint(id, images, after);
                    }
                },
                ROOM_MB);
        begin("sleeper");
        node.keepers.pause(ID, Keep.MEMORY, Durability.FROZEN);
        assertThat(begun.await(1, TimeUnit.MINUTES)).isTrue();
        node.keepers.kill(ID);
        assertThat(node.keepers.find(ID)).isEmpty();
        assertThat(node.traces("sleeper", 0)).isEmpty();
    }

    @Test
    void whatCannotBeSavedStaysFrozenWithTheReason() throws Exception {
        obstacle = new CayException(ErrorKind.NOT_SAVED, "the disk is made of cheese");
        reopen(this::hindered, ROOM_MB);
        begin("sleeper");
        int pid = pid("sleeper");
        node.keepers.pause(ID, Keep.MEMORY, Durability.FROZEN);
        var reason = Saved.notYet("the disk is made of cheese");
        await(() -> reason.equals(kept()));
        await(() -> told.equals(List.of(reason)));
        assertThatThrownBy(() -> node.keepers.pause(ID, Keep.MEMORY, Durability.SAVED))
                .hasMessageContaining("cheese");

        obstacle = null;
        await(() -> Saved.WHOLE.equals(kept()));
        node.keepers.resume(ID, true);
        assertThat(pid("sleeper")).isEqualTo(pid);
        assertGoesOn("sleeper");
    }

    /// CRIU cannot save a connection that nobody has accepted. Where nobody was told of the pause yet, the sandbox runs
    /// for a moment before the next try.
    @Test
    void neverRunsForASaveAfterItsPauseWasAcknowledged() throws Exception {
        var thaws = new AtomicInteger();
        reopen(
                runtime -> new RuntimeAround(runtime) {
                    @Override
                    public void thaw(SandboxId id) {
                        thaws.incrementAndGet();
                        super.thaw(id);
                    }
                },
                ROOM_MB);
        begin("sleeper");
        node.start("sleeper", IN_FLIGHT);
        await(() -> node.run("sleeper", "cat /connected").equals("yes"));
        int pid = pid("sleeper");
        node.keepers.pause(ID, Keep.MEMORY, Durability.FROZEN);
        int counted = countOutside();
        await(() -> !told.isEmpty());
        assertThat(told.getFirst().frozen())
                .extracting(Saved.Frozen::reason)
                .asString()
                .contains("has not accepted a connection");
        assertThatThrownBy(() -> node.keepers.pause(ID, Keep.MEMORY, Durability.SAVED))
                .hasMessageContaining("has not accepted a connection");
        assertThat(thaws).hasValue(0);
        assertThat(countOutside()).as("no program ran").isEqualTo(counted);

        node.keepers.resume(ID, true);
        assertThat(pid("sleeper")).isEqualTo(pid);
        assertGoesOn("sleeper");
        node.run("sleeper", "touch /accept");
        await(() -> node.run("sleeper", "cat /connected").equals("accepted"));
        node.keepers.pause(ID, Keep.MEMORY, Durability.FROZEN);
        await(() -> Saved.WHOLE.equals(kept()));
    }

    /// What the sandbox has counted, read without it.
    private int countOutside() throws Exception {
        var lines = Files.readAllLines(Path.of("/proc/" + pid("sleeper") + "/root/count"));
        return lines.size();
    }

    @Test
    void filesAloneAreKeptWhereMemoryIsShort() throws Exception {
        obstacle = new CayException(ErrorKind.NOT_SAVED, "the disk is made of cheese");
        reopen(this::hindered, ROOM_MB);
        begin("sleeper");
        node.keepers.pause(ID, Keep.MEMORY, Durability.FROZEN);
        await(() -> !told.isEmpty());
        assertThat(node.saved.frozen().relieve()).isTrue();
        var files = kept();
        assertThat(files).isNotNull();
        assertThat(files.memory()).isFalse();
        assertThat(files.loss()).contains("memory ran short");
        assertThat(told.getLast()).isEqualTo(files);
        assertThat(node.runc.find(ID)).isEmpty();
        assertThat(node.host.plan().taken()).isZero();
        node.keepers.resume(ID, true);
        assertThat(count("sleeper")).isGreaterThan(3);
    }

    @Test
    void theOneThatWasPausedFirstGivesWayFirst() throws Exception {
        reopen(runtime -> runtime, ROOM_MB);
        begin("sleeper");
        begin("second");
        var second = new SandboxId("second");
        node.keepers.pause(ID, Keep.MEMORY, Durability.SAVED);
        node.keepers.pause(second, Keep.MEMORY, Durability.SAVED);
        await(() -> node.saved.frozen().isSaved(ID) && node.saved.frozen().isSaved(second));
        assertThat(node.saved.frozen().relieve()).isTrue();
        assertThat(node.runc.find(ID)).isEmpty();
        assertThat(node.runc.find(second)).isPresent();
        node.keepers.resume(ID, true);
        assertGoesOn("sleeper");
        node.keepers.resume(second, true);
        assertGoesOn("second");
    }

    @Test
    void aFrozenOneGivesItsSlotToOneThatStarts() throws Exception {
        reopen(runtime -> runtime, ROOM_MB);
        begin("sleeper");
        node.keepers.pause(ID, Keep.MEMORY, Durability.FROZEN);
        while (node.host.plan().taken() < node.host.plan().capacity()) {
            node.host.plan().take();
        }
        begin("starter");
        assertThat(node.runc.find(ID)).isEmpty();
        assertThat(kept()).isEqualTo(Saved.WHOLE);
    }

    @Test
    void whatTheKernelKilledFromIsRestored() throws Exception {
        var kills = new long[1];
        reopen(
                runtime -> new RuntimeAround(runtime) {
                    @Override
                    public long memoryKills(SandboxId id) {
                        return kills[0];
                    }
                },
                ROOM_MB);
        begin("sleeper");
        int pid = pid("sleeper");
        node.keepers.pause(ID, Keep.MEMORY, Durability.SAVED);
        await(() -> node.saved.frozen().isSaved(ID));
        kills[0]++;
        node.keepers.resume(ID, true);
        assertThat(pid("sleeper")).isNotEqualTo(pid);
        assertGoesOn("sleeper");
    }

    @Test
    void aRebootBeforeItIsSavedKeepsItsFilesAndSaysSo() throws Exception {
        obstacle = new CayException(ErrorKind.NOT_SAVED, "the disk is made of cheese");
        reopen(this::hindered, ROOM_MB);
        begin("sleeper");
        node.keepers.pause(ID, Keep.MEMORY, Durability.FROZEN);
        await(() -> !told.isEmpty());
        node.close();
        node.runc.kill(ID);
        open(runtime -> runtime, ROOM_MB);
        var files = kept();
        assertThat(files).isEqualTo(Saved.filesOnly("the machine was restarted before its memory was on the disk"));
        await(() -> node.host.plan().taken() == 0);
        node.keepers.resume(ID, true);
        assertThat(count("sleeper")).isGreaterThan(3);
    }

    @Test
    void anotherDaemonAdoptsTheFrozenOneAndSavesIt() throws Exception {
        obstacle = new CayException(ErrorKind.NOT_SAVED, "the disk is made of cheese");
        reopen(this::hindered, ROOM_MB);
        begin("sleeper");
        int pid = pid("sleeper");
        node.keepers.pause(ID, Keep.MEMORY, Durability.FROZEN);
        await(() -> !told.isEmpty());
        told.clear();
        node.close();
        // A killed CRIU may have left it so.
        node.runc.thaw(ID);
        open(runtime -> runtime, ROOM_MB);
        await(() -> Saved.WHOLE.equals(kept()));
        assertThat(Files.readString(SandboxNotes.folder(place.records(), ID).resolve("sandbox.json")))
                .contains("PAUSED");
        node.keepers.resume(ID, true);
        assertThat(pid("sleeper")).isEqualTo(pid);
        assertGoesOn("sleeper");
    }
}
