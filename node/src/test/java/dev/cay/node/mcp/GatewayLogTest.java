package dev.cay.node.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.log.LogHub;
import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@Fast
class GatewayLogTest {
    private final GatewayLog log =
            new GatewayLog(new LogHub(InstantSource.system()).of(new SandboxId("one")), InstantSource.system());
    private final LinkedBlockingQueue<String> written = new LinkedBlockingQueue<>();

    private void write(byte[] content) {
        written.add(new String(content, StandardCharsets.UTF_8));
    }

    @Test
    void aFloodOfLinesIsWrittenNowAndThenAndToItsEnd() throws Exception {
        log.on(this::write);
        var began = Instant.now();
        int lines = 0;
        while (lines < 100 || began.plusMillis(400).isAfter(Instant.now())) {
            log.say("line %d.".formatted(lines++));
            Thread.sleep(0, 100_000);
        }
        String last = "line %d.".formatted(lines - 1);
        int times = 1;
        while (!next().contains(last)) {
            times++;
        }
        long halfSeconds = Duration.between(began, Instant.now()).toMillis() / 500;
        assertThat((long) times).isLessThan(10 + halfSeconds);
    }

    @Test
    void whatWasSaidBeforeAndBetweenIsInTheNextFile() throws Exception {
        log.say("before");
        log.on(this::write);
        assertThat(next()).contains("before");
        log.on(null);
        log.say("between");
        log.on(this::write);
        assertThat(next()).contains("before").contains("between");
    }

    @Test
    void aFileThatCannotBeWrittenIsLeftAlone() throws Exception {
        log.on(content -> {
            write(content);
            throw new IOException("there is a directory in its place");
        });
        log.say("one");
        assertThat(next()).contains("one");
        log.say("two");
        assertThat(written.poll(200, TimeUnit.MILLISECONDS)).isNull();
    }

    private String next() throws InterruptedException {
        String next = written.poll(1, TimeUnit.MINUTES);
        assertThat(next).as("something written").isNotNull();
        return String.valueOf(next);
    }
}
