package dev.cay.life;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.TeamId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@Fast
final class FairTurnsTest {
    private static final TeamId LOUD = new TeamId("loud");
    private static final TeamId QUIET = new TeamId("quiet");

    private final BlockingQueue<FairTurns.Turn> taken = new LinkedBlockingQueue<>();
    private final BlockingQueue<TeamId> order = new LinkedBlockingQueue<>();

    private Thread waiting(FairTurns limit, TeamId team) {
        var thread = Thread.startVirtualThread(() -> {
            var turn = limit.take(team);
            order.add(team);
            taken.add(turn);
        });
        Await.until("the team %s waits".formatted(team), () -> thread.getState() == Thread.State.TIMED_WAITING);
        return thread;
    }

    private TeamId next() throws InterruptedException {
        return order.poll(30, TimeUnit.SECONDS);
    }

    private void leave() throws InterruptedException {
        taken.poll(30, TimeUnit.SECONDS).close();
    }

    @Test
    void teamsTakeTurns() throws Exception {
        var limit = new FairTurns("no", 1, 100, Duration.ofMinutes(1));
        taken.add(limit.take(LOUD));
        for (int i = 0; i < 5; i++) {
            waiting(limit, LOUD);
        }
        waiting(limit, QUIET);
        waiting(limit, QUIET);
        var seen = new ArrayList<TeamId>();
        for (int i = 0; i < 7; i++) {
            leave();
            seen.add(next());
        }
        assertThat(seen).isEqualTo(List.of(LOUD, QUIET, LOUD, QUIET, LOUD, LOUD, LOUD));
    }

    @Test
    void whoOfATeamHasWaitedLongestIsNext() throws Exception {
        var limit = new FairTurns("no", 1, 100, Duration.ofMinutes(1));
        taken.add(limit.take(LOUD));
        var numbers = new LinkedBlockingQueue<Integer>();
        for (int i = 0; i < 5; i++) {
            int number = i;
            var thread = Thread.startVirtualThread(() -> {
                var turn = limit.take(LOUD);
                numbers.add(number);
                taken.add(turn);
            });
            Await.until("number %d waits".formatted(i), () -> thread.getState() == Thread.State.TIMED_WAITING);
        }
        for (int i = 0; i < 5; i++) {
            leave();
            assertThat(numbers.poll(30, TimeUnit.SECONDS)).isEqualTo(i);
        }
    }

    @Test
    void oneTeamsLineDoesNotTurnAnotherAway() throws Exception {
        var limit = new FairTurns("no", 1, 2, Duration.ofMinutes(1));
        taken.add(limit.take(LOUD));
        waiting(limit, LOUD);
        waiting(limit, LOUD);
        assertThatThrownBy(() -> limit.take(LOUD))
                .isInstanceOf(CayException.class)
                .hasMessage("no: too many others wait for their turn; try again later");
        waiting(limit, QUIET);
        leave();
        assertThat(next()).isEqualTo(LOUD);
        leave();
        assertThat(next()).isEqualTo(QUIET);
    }

    /// However many teams have as many waiting as they may.
    @Test
    void manyTeamsTogetherTurnNoOtherAway() throws Exception {
        var limit = new FairTurns("no", 1, 2, Duration.ofMinutes(1));
        taken.add(limit.take(LOUD));
        for (int team = 0; team < 10; team++) {
            for (int i = 0; i < 2; i++) {
                waiting(limit, new TeamId("loud" + team));
            }
        }
        waiting(limit, QUIET);
        assertThatThrownBy(() -> limit.take(QUIET)).hasMessageContaining("too many others wait");
        var seen = new ArrayList<TeamId>();
        for (int i = 0; i < 21; i++) {
            leave();
            seen.add(next());
        }
        assertThat(seen.indexOf(QUIET)).isEqualTo(10);
    }

    @Test
    void whoGivesUpLeavesTheLine() throws Exception {
        var limit = new FairTurns("no", 1, 10, Duration.ofMillis(50));
        var first = limit.take(LOUD);
        assertThatThrownBy(() -> limit.take(QUIET)).hasMessageContaining("it was not its turn within 0 seconds");
        first.close();
        limit.take(QUIET).close();
    }

    @Test
    void whoDoesNotWaitTakesAFreeTurnOnly() {
        var limit = new FairTurns("no", 1, 10, Duration.ofMillis(50));
        var first = limit.tryTake().orElseThrow();
        assertThat(limit.tryTake()).isEmpty();
        first.close();
        limit.take(QUIET).close();
    }

    @Test
    void asManyRunAsMay() {
        var limit = new FairTurns("no", 3, 10, Duration.ofMillis(10));
        var turns = IntStream.range(0, 3).mapToObj(_ -> limit.take(LOUD)).toList();
        assertThatThrownBy(() -> limit.take(LOUD)).isInstanceOf(CayException.class);
        turns.forEach(FairTurns.Turn::close);
        limit.take(LOUD).close();
    }
}
