package dev.cay.node.interpreter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
@Fast
class MailboxTest {
    private static final Duration MOMENT = Duration.ofMillis(100);
    private static final RunnerEvent ONE = new RunnerEvent.End(1);
    private static final RunnerEvent TWO = new RunnerEvent.End(2);

    private final Mailbox mailbox = new Mailbox();

    @Test
    void whatNobodyListensToIsDropped() throws Exception {
        assertThat(mailbox.put(ONE, MOMENT)).isTrue();
        assertThat(mailbox.put(TWO, MOMENT)).isTrue();
        mailbox.listen(true);
        assertThat(mailbox.take(MOMENT)).isNull();
    }

    @Test
    void aSecondWaitsUntilTheFirstIsTaken() throws Exception {
        mailbox.listen(true);
        assertThat(mailbox.put(ONE, MOMENT)).isTrue();
        assertThat(mailbox.put(TWO, MOMENT)).isFalse();
        assertThat(mailbox.take(MOMENT)).isEqualTo(ONE);
        assertThat(mailbox.put(TWO, MOMENT)).isTrue();
        assertThat(mailbox.take(MOMENT)).isEqualTo(TWO);
    }

    @Test
    void aListenerIsDoneWhenItComesAgainOrGoes() throws Exception {
        mailbox.listen(true);
        mailbox.put(ONE, MOMENT);
        assertThat(mailbox.awaitDone(MOMENT)).as("not taken").isFalse();
        mailbox.take(MOMENT);
        assertThat(mailbox.awaitDone(MOMENT)).as("taken, and being sent").isFalse();
        mailbox.take(MOMENT);
        assertThat(mailbox.awaitDone(MOMENT)).isTrue();
        mailbox.put(TWO, MOMENT);
        mailbox.take(MOMENT);
        mailbox.listen(false);
        assertThat(mailbox.awaitDone(MOMENT)).isTrue();
    }

    @Test
    void theEndIsToldAfterWhatCameBefore() throws Exception {
        mailbox.listen(true);
        mailbox.put(ONE, MOMENT);
        mailbox.end(new RunnerEvent.Over("gone"));
        assertThat(mailbox.take(MOMENT)).isEqualTo(ONE);
        assertThat(mailbox.take(MOMENT)).isEqualTo(new RunnerEvent.Over("gone"));
        assertThat(mailbox.take(MOMENT)).isEqualTo(new RunnerEvent.Over("gone"));
    }
}
