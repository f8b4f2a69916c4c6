package dev.cay.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
@Fast
class LargeMessagesTest {
    private static final int LARGEST = LargeMessages.MOST_BYTES;
    private static final Supplier<Future<?>> HURRY = CompletableFuture::new;
    private static final SandboxId SANDBOX = new SandboxId("one");

    /// Room for one of the largest kind.
    private final LargeMessages messages = new LargeMessages(0);

    @Test
    void aLargeMessageWaitsForTheOneBefore() throws Exception {
        var taken = new CountDownLatch(1);
        Thread second;
        try (var first = messages.room(null, HURRY)) {
            first.need(LARGEST);
            second = Thread.startVirtualThread(() -> {
                try (var room = messages.room(null, HURRY)) {
                    room.need(LARGEST);
                    taken.countDown();
                }
            });
            assertThat(taken.await(200, TimeUnit.MILLISECONDS)).isFalse();
        }
        assertThat(taken.await(20, TimeUnit.SECONDS)).isTrue();
        second.join();
    }

    @Test
    void smallOnesNeverWait() {
        try (var first = messages.room(null, HURRY);
                var second = messages.room(null, HURRY)) {
            first.need(LARGEST);
            second.need(LargeMessages.LARGE);
        }
    }

    @Test
    void aSandboxHasOneLargeMessageAtATimeHoweverMuchRoomThereIs() {
        var roomy = new LargeMessages(1L << 40);
        try (var first = roomy.room(SANDBOX, HURRY);
                var second = roomy.room(SANDBOX, HURRY);
                var other = roomy.room(new SandboxId("two"), HURRY)) {
            first.need(LARGEST);
            assertThatThrownBy(() -> second.demand(LARGEST))
                    .isInstanceOf(CayException.class)
                    .hasMessageContaining("try again");
            other.demand(LARGEST);
        }
    }

    @Test
    void anAnswerThatFindsNoRoomIsRefusedAndTheNextOneIsNot() {
        try (var first = messages.room(null, HURRY)) {
            first.demand(Long.MAX_VALUE);
            assertThatThrownBy(() -> {
                        try (var second = messages.room(null, HURRY)) {
                            second.demand(LARGEST);
                        }
                    })
                    .isInstanceOf(CayException.class);
        }
        try (var third = messages.room(null, HURRY)) {
            third.demand(LARGEST);
        }
    }

    @Test
    void whoHasRoomIsHurriedUntilAllIsDone() {
        var begun = new ArrayList<Future<?>>();
        Supplier<Future<?>> hurry = () -> {
            begun.add(new CompletableFuture<>());
            return begun.getLast();
        };
        try (var room = messages.room(null, hurry)) {
            room.need(LargeMessages.LARGE);
            assertThat(begun).as("a small one harms nobody").isEmpty();
            room.need(LARGEST);
            assertThat(begun).hasSize(1);
            assertThat(begun.getFirst().isCancelled()).isFalse();
        }
        assertThat(begun.getFirst().isCancelled()).isTrue();
    }
}
