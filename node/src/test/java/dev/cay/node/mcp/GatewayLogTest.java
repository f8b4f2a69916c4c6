package dev.cay.node.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.log.LogHub;
import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
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
        long end = System.nanoTime() + Duration.ofMillis(400).toNanos();
        int lines = 0;
        while (System.nanoTime() < end) {
            log.say("line %d.".formatted(lines++));
            Thread.sleep(0, 100_000);
        }
        assertThat(lines).isGreaterThan(50);
        String last = "line %d.".formatted(lines - 1);
        int times = 1;
        while (!next().contains(last)) {
            times++;
        }
        assertThat(times).isLessThan(10);
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
        String next = written.poll(20, TimeUnit.SECONDS);
        assertThat(next).as("something written within 20 s").isNotNull();
        return String.valueOf(next);
    }
}
