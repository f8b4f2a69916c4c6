package dev.cay.server.live;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

@Fast
final class TeamFeedTest {
    private static final long LONG = Duration.ofMinutes(10).toMillis();

    private final TeamFeed feed = new TeamFeed();

    private String next(long known) throws InterruptedException {
        return new String(feed.next(known, LONG).bytes(), StandardCharsets.UTF_8);
    }

    @Test
    void aReaderGetsAllFirstAndThenWhatHasChanged() throws Exception {
        feed.update(List.of("a", "b"), one -> one);
        assertThat(next(0)).isEqualTo("event: all\ndata: {\"set\":[\"a\",\"b\"]}\n\n");
        feed.update(List.of("b", "c"), one -> one);
        assertThat(next(1)).contains("event: change", "\"set\":[\"c\"]", "\"gone\":[\"a\"]");
        assertThat(next(0)).contains("event: all", "[\"b\",\"c\"]");
    }

    /// Where the thread that looks at the sandboxes has failed, its readers would wait for changes that nobody sees.
    @Test
    void nobodyWaitsForAFeedThatHasEnded() throws Exception {
        feed.update(List.of("a"), one -> one);
        var waiting = CompletableFuture.supplyAsync(() -> {
            try {
                return next(1);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        feed.end();
        assertThat(waiting.get(20, TimeUnit.SECONDS)).isEmpty();
        assertThat(next(1)).isEmpty();
        assertThat(feed.isEnded()).isTrue();
    }
}
