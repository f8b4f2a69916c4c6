package dev.cay.node.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

@Fast
final class OutcomeWaitTest {
    private final AtomicBoolean known = new AtomicBoolean();
    private final OutcomeWait wait = new OutcomeWait(known::get);

    @Test
    void nobodyWaitsForWhatIsKnown() {
        known.set(true);
        assertThat(wait.begin()).isDone();
    }

    @Test
    void allWhoWaitGoOnWithTheFirstChangeThatIsAnOutcome() {
        var one = wait.begin();
        var other = wait.begin();
        wait.changed();
        assertThat(one).isNotDone();
        known.set(true);
        wait.changed();
        assertThat(one).isCompleted();
        assertThat(other).isCompleted();
    }

    @Test
    void aPreparationIsAnOutcomeWhenItLasts() {
        var one = wait.begin();
        wait.prepares();
        known.set(true);
        assertThat(one).succeedsWithin(Duration.ofSeconds(30));
    }

    @Test
    void whoDoesNotWaitAnyMoreIsForgotten() {
        var left = wait.begin();
        left.cancel(false);
        known.set(true);
        wait.changed();
        assertThat(left).isCancelled();
        assertThat(wait.begin()).isDone();
    }
}
