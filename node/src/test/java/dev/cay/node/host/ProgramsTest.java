package dev.cay.node.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@Fast
class ProgramsTest {
    private static final Programs PROGRAMS = Programs.ofHost();

    @Test
    void aLongCommandIsHeardLineByLine() {
        var lines = new ArrayList<String>();
        int exit = PROGRAMS.follow(
                Duration.ofSeconds(20),
                Map.of("WORD", "two"),
                List.of("sh", "-c", "echo one; echo $WORD >&2; exit 3"),
                lines::add);
        assertThat(exit).isEqualTo(3);
        assertThat(lines).containsExactly("one", "two");
    }

    @Test
    void pastItsLimitALongCommandEndsWithItsChildren() throws Exception {
        var lines = new ArrayList<String>();
        String script = "sleep 300 & echo $!; wait";
        assertThatThrownBy(
                        () -> PROGRAMS.follow(Duration.ofSeconds(2), Map.of(), List.of("sh", "-c", script), lines::add))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("took longer than PT2S");
        awaitEnd(lines.getFirst());
    }

    /// Nobody of the daemon is left to end what it followed: the command has a limit of its own.
    @Test
    void aLongCommandEndsAlsoWithoutTheDaemon() throws Exception {
        var lines = new ArrayList<String>();
        PROGRAMS.follow(
                Duration.ofSeconds(20),
                Map.of(),
                List.of("sh", "-c", "tr '\\0' ' ' < /proc/$PPID/cmdline"),
                lines::add);
        assertThat(lines.getFirst()).matches("\\S*timeout --signal=KILL 30 sh -c .*");
    }

    private static void awaitEnd(String pid) {
        Await.until("the process %s ends".formatted(pid), () -> !Files.exists(Path.of("/proc", pid)));
    }
}
