package dev.cay.node.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.LogLine;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

@Fast
class SandboxLogTest {
    private final List<LogLine> lines = new ArrayList<>();
    private Instant now = Instant.ofEpochSecond(1_800_000_000);
    private final InstantSource clock = () -> now;
    private final SandboxLog log = log();

    @Test
    void tellsNoValueOfAVariable() {
        log.hide(List.of("sk-secret-1234", "sk-secret-1234-and-more", "short", ""));
        log.info(
                "process",
                "Process started",
                Map.of("command", "curl -H 'sk-secret-1234-and-more' -d sk-secret-1234 --token own-secret short"),
                List.of("own-secret"));
        assertThat(lines.getFirst().fields().get("command"))
                .isEqualTo(
                        "curl -H '[value of a variable]' -d [value of a variable] --token [value of a variable] short");
    }

    @Test
    void leavesOutLinesOfASandboxThatDoesTooMuchAndSaysSo() {
        for (int i = 0; i < 500; i++) {
            log.info("filesystem", "File written", Map.of());
        }
        assertThat(lines).hasSize(100);
        now = now.plusSeconds(1);
        log.info("process", "Process started", Map.of());
        assertThat(lines).hasSize(102);
        assertThat(lines.get(100).message()).startsWith("400 lines were left out");
    }

    @Test
    void cutsWhatIsTooLong() {
        log.info("process", "Process started", Map.of("command", "x".repeat(100_000)));
        assertThat(lines.getFirst().fields().get("command")).hasSize(2001);
    }

    @Test
    void tellsNoPartOfAValueThatIsCut() {
        String secret = "s".repeat(5000);
        log.info("process", "Process started", Map.of("command", "y".repeat(1990) + secret), List.of(secret));
        assertThat(lines.getFirst().fields().get("command")).isEqualTo("y".repeat(1990) + "[value of …");
    }

    @Test
    void tellsNothingWhereThereAreTooManyValuesToLookFor() {
        var values =
                IntStream.range(0, 100_000).mapToObj("value-%06d"::formatted).toList();
        log.info("process", "Process started", Map.of("command", "echo value-000042"), values);
        assertThat(lines.getFirst().fields().get("command")).isEqualTo("[value of a variable]");
    }

    private SandboxLog log() {
        var hub = new LogHub(clock);
        hub.listen((_, line) -> lines.add(line));
        return hub.of(new SandboxId("abc"));
    }
}
