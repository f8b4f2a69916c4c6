package dev.cay.node.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Processes that have the names of runc and CRIU, and do nothing.
@Timeout(180)
@Fast
class CutCriuTest {
    /// Says the number of a CRIU that lives on: a child of one that is gone, or at work.
    private static final String RUNC = """
            import ctypes, os, sys, time
            def become(name): ctypes.CDLL(None).prctl(15, name.encode())
            become('runc')
            if os.fork() == 0:
                become('criu')
                helper = os.fork()
                if helper == 0:
                    time.sleep(600)
                print(helper, flush=True)
                if sys.argv[1] == 'cut':
                    os._exit(1)
                time.sleep(600)
                os._exit(0)
            time.sleep(600)
            """;

    private final List<ProcessHandle> started = new ArrayList<>();

    private Process runc(String how) throws IOException {
        var process = new ProcessBuilder("python3", "-c", RUNC, how).start();
        started.add(process.toHandle());
        return process;
    }

    private ProcessHandle helper(BufferedReader said) throws IOException {
        var helper = ProcessHandle.of(Long.parseLong(Objects.requireNonNull(said.readLine())))
                .orElseThrow();
        started.add(helper);
        return helper;
    }

    @AfterEach
    void end() {
        started.forEach(process -> {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        });
    }

    @Test
    void whatADeadCriuLeftIsEndedAndNobodyElses() throws Exception {
        var cut = runc("cut");
        var other = runc("at work");
        try (var said = cut.inputReader(StandardCharsets.US_ASCII);
                var saidByOther = other.inputReader(StandardCharsets.US_ASCII)) {
            var left = helper(said);
            var busy = helper(saidByOther);
            var guard = new CutCriu(cut.toHandle());
            Await.until(
                    "a child of criu is dead",
                    () -> cut.children()
                            .anyMatch(child -> ProcessStat.read(child.pid())
                                    .filter(ProcessStat::isDead)
                                    .isPresent()));

            guard.look();
            assertThat(left.isAlive()).as("runc may be about to look itself").isTrue();
            guard.look();
            left.onExit().get(1, TimeUnit.MINUTES);
            assertThat(busy.isAlive()).isTrue();

            var calm = new CutCriu(other.toHandle());
            calm.look();
            calm.look();
            assertThat(busy.isAlive()).isTrue();
        }
    }
}
