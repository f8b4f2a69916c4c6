package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Which frozen sandboxes are saved, and which give way, in what order.
@Fast
@Timeout(240)
final class FrozenSandboxesTest {
    private static final long MIB = 1 << 20;

    private final List<String> done = new CopyOnWriteArrayList<>();
    private volatile boolean isShort;
    private volatile long swapRoom;
    private FrozenSandboxes frozen = sandboxes(1 << 30);

    private FrozenSandboxes sandboxes(long budget) {
        return sandboxes(budget, Duration.ZERO);
    }

    private FrozenSandboxes sandboxes(long budget, Duration beforeSave) {
        var machine = new FrozenSandboxes.Memory(() -> isShort, () -> swapRoom > 0, () -> swapRoom);
        return new FrozenSandboxes(machine, budget, 1, beforeSave);
    }

    @AfterEach
    void close() {
        frozen.close();
    }

    /// A sandbox that does as it is told.
    private class Sleeper implements FrozenSandboxes.Original {
        private final String name;
        volatile boolean fails;
        volatile boolean filling;
        volatile long resident = 100 * MIB;
        volatile long remains = 10 * MIB;
        final CountDownLatch maySave = new CountDownLatch(1);

        Sleeper(String name) {
            this.name = name;
        }

        Sleeper atOnce() {
            maySave.countDown();
            return this;
        }

        Sleeper failing() {
            fails = true;
            return atOnce();
        }

        @Override
        public SandboxId id() {
            return new SandboxId(name);
        }

        @Override
        public boolean isFilling() {
            return filling;
        }

        @Override
        public FrozenSandboxes.Outcome save() {
            done.add("save " + name);
            Await.until("%s may be saved".formatted(name), maySave);
            return fails ? FrozenSandboxes.Outcome.FAILED : FrozenSandboxes.Outcome.SAVED;
        }

        @Override
        public void pushOut() {
            done.add("out " + name);
            resident = remains;
        }

        @Override
        public void giveWay() {
            if (fails) {
                done.add("stays " + name);
                throw new CayException(ErrorKind.INTERNAL, "no");
            }
            done.add("gone " + name);
        }

        @Override
        public void keepFilesAlone(String reason) {
            done.add("files " + name);
        }

        @Override
        public long resident() {
            return resident;
        }
    }

    private void add(Sleeper sleeper, boolean saved) {
        frozen.add(sleeper, 100 * MIB, saved);
    }

    private void await(Await.Condition condition) {
        Await.until(() -> "more is done than " + done, condition);
    }

    @Test
    void areSavedOneAfterTheOtherInTheOrderOfTheirPauses() throws Exception {
        var sleepers = new ArrayList<Sleeper>();
        for (String name : List.of("one", "two", "three")) {
            sleepers.add(new Sleeper(name));
            add(sleepers.getLast(), false);
        }
        await(() -> !done.isEmpty());
        assertThat(done).containsExactly("save one");
        assertThat(frozen.unsaved()).hasSize(3);
        sleepers.forEach(Sleeper::atOnce);
        await(() -> frozen.unsaved().isEmpty());
        assertThat(done).containsExactly("save one", "save two", "save three");
        assertThat(sleepers).allMatch(sleeper -> frozen.isSaved(sleeper.id()));
    }

    @Test
    void oneThatIsResumedRightAfterItsPauseIsNotSavedBefore() throws Exception {
        frozen.close();
        frozen = sandboxes(1 << 30, Duration.ofHours(1));
        var one = new Sleeper("one").atOnce();
        add(one, false);
        Thread.sleep(300);
        frozen.remove(one.id());
        assertThat(done).isEmpty();
    }

    @Test
    void areSavedAtOnceWhereMemoryIsShort() throws Exception {
        frozen.close();
        frozen = sandboxes(50 * MIB, Duration.ofHours(1));
        add(new Sleeper("one").atOnce(), false);
        add(new Sleeper("two").atOnce(), false);
        await(() -> frozen.unsaved().isEmpty());
        assertThat(done).contains("save one", "save two");
    }

    @Test
    void thoseThatWerePausedFirstGiveWayWhenTheBudgetIsUsed() throws Exception {
        frozen.close();
        frozen = sandboxes(250 * MIB);
        add(new Sleeper("one"), true);
        add(new Sleeper("two"), true);
        add(new Sleeper("three").atOnce(), false);
        await(() -> frozen.isSaved(new SandboxId("three")));
        await(() -> !frozen.has(new SandboxId("one")));
        assertThat(done).containsExactlyInAnyOrder("save three", "gone one");
    }

    @Test
    void whatIsNotSavedNeverGivesWayToTheBudget() throws Exception {
        frozen.close();
        frozen = sandboxes(0);
        var one = new Sleeper("one");
        add(one, false);
        await(() -> !done.isEmpty());
        frozen.lookAfter();
        assertThat(frozen.has(one.id())).isTrue();
        one.atOnce();
        await(() -> !frozen.has(one.id()));
        assertThat(done).containsExactly("save one", "gone one");
    }

    @Test
    void oneThatIsBeingSavedIsAwaitedBeforeFilesAloneAreKept() throws Exception {
        add(new Sleeper("bad").failing(), false);
        await(() -> done.contains("save bad"));
        var good = new Sleeper("good");
        add(good, false);
        await(() -> done.contains("save good"));
        Thread.ofVirtual().start(good::atOnce);
        assertThat(frozen.relieve()).isTrue();
        assertThat(done).contains("gone good").doesNotContain("files bad");
        assertThat(frozen.relieve()).isTrue();
        assertThat(done.getLast()).isEqualTo("files bad");
        assertThat(frozen.relieve()).isFalse();
    }

    @Test
    void oneWhoseMemoryIsStillComingBackKeepsNobodyWaiting() throws Exception {
        var slow = new Sleeper("slow").atOnce();
        slow.filling = true;
        add(slow, false);
        add(new Sleeper("other").atOnce(), false);
        await(() -> frozen.isSaved(new SandboxId("other")));
        assertThat(done).containsExactly("save other");
        slow.filling = false;
        await(() -> frozen.isSaved(slow.id()));
    }

    @Test
    void oneThatDoesNotGiveWayKeepsNoOtherFromIt() {
        add(new Sleeper("stuck").failing(), true);
        add(new Sleeper("good"), true);
        assertThat(frozen.relieve()).isTrue();
        assertThat(done).containsExactly("stays stuck", "gone good");
        assertThat(frozen.relieve()).as("it was asked a moment ago").isFalse();
        assertThat(done).hasSize(2);
    }

    @Test
    void memoryOnTheSwapIsOwed() {
        var one = new Sleeper("one");
        add(one, true);
        one.resident = 30 * MIB;
        assertThat(frozen.owed()).isZero();
        swapRoom = 1;
        assertThat(frozen.owed()).isEqualTo(70 * MIB);
        frozen.remove(one.id());
        assertThat(frozen.owed()).isZero();
    }

    @Test
    void arePushedOutToTheSwapBeforeTheyGiveWayToTheBudget() throws Exception {
        frozen.close();
        frozen = sandboxes(250 * MIB);
        swapRoom = 1024 * MIB;
        add(new Sleeper("one"), true);
        add(new Sleeper("two"), true);
        add(new Sleeper("three"), true);
        await(() -> done.contains("out one"));
        add(new Sleeper("four"), true);
        await(() -> done.contains("out two"));
        frozen.lookAfter();
        assertThat(done).as("what is on the swap leaves room for others").containsExactly("out one", "out two");
        assertThat(frozen.owed()).isEqualTo(180 * MIB);

        swapRoom = 50 * MIB;
        add(new Sleeper("five"), true);
        await(() -> done.contains("gone one"));
        assertThat(done).doesNotContain("out three");
    }

    /// The kernel may find nothing that it can write to the swap.
    @Test
    void oneThatStaysInMemoryIsPushedOnceAndGivesWay() throws Exception {
        frozen.close();
        frozen = sandboxes(50 * MIB);
        swapRoom = 1024 * MIB;
        var one = new Sleeper("one");
        one.remains = 100 * MIB;
        add(one, true);
        await(() -> !frozen.has(one.id()));
        assertThat(done).containsExactly("out one", "gone one");
    }

    @Test
    void filesAloneAreKeptOfWhatCannotBeSavedWhenTheMachineIsShortOfMemory() throws Exception {
        var bad = new Sleeper("bad").failing();
        add(bad, false);
        await(() -> done.contains("save bad"));
        frozen.lookAfter();
        assertThat(frozen.has(bad.id())).as("there is memory").isTrue();
        var good = new Sleeper("good");
        add(good, false);
        await(() -> done.contains("save good"));
        isShort = true;
        frozen.lookAfter();
        assertThat(frozen.has(bad.id())).as("another one may give way soon").isTrue();
        good.atOnce();
        await(() -> !frozen.has(good.id()));
        await(() -> {
            frozen.lookAfter();
            return !frozen.has(bad.id());
        });
        assertThat(done).containsSubsequence("gone good", "files bad");
    }

    @Test
    void aSaveThatWasGivenUpIsNoFailure() throws Exception {
        var one = new Sleeper("one") {
            @Override
            public FrozenSandboxes.Outcome save() {
                super.save();
                return FrozenSandboxes.Outcome.LATER;
            }
        };
        add(one.atOnce(), false);
        await(() -> done.contains("save one"));
        isShort = true;
        frozen.lookAfter();
        assertThat(frozen.has(one.id())).as("it may still be saved").isTrue();
        assertThat(frozen.isSaved(one.id())).isFalse();
        assertThat(done).containsExactly("save one");
    }

    @Test
    void tooMuchThatIsNotSavedMakesPausesWait() throws Exception {
        assertThat(frozen.isTooMuch(4096 * MIB)).as("nothing else waits").isFalse();
        add(new Sleeper("one"), false);
        await(() -> !done.isEmpty());
        assertThat(frozen.isTooMuch(900 * MIB)).isFalse();
        assertThat(frozen.isTooMuch(1000 * MIB)).isTrue();
    }
}
