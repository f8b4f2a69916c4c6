package dev.cay.node.interpreter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.guest.Spawn;
import dev.cay.node.guest.TestSandbox;
import dev.cay.node.lines.LongLines;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
@NeedsRoot
class RunnerTest {
    @ParameterizedTest
    @CsvSource({
        "exit 3, it ended with exit status 3",
        "kill -9 $$, it ended with signal: killed",
        "echo no memory >&2; exit 1, no memory"
    })
    void tellsWhyARunnerIsOfNoUse(String script, String trouble) throws Exception {
        var spawn = new Spawn(
                List.of("/bin/sh", "-c", script), List.of("PATH=/bin:/usr/bin"), "/", 0, 0, List.of(), 0, 0, true, "");
        try (var sandbox = new TestSandbox();
                var link = sandbox.link();
                var runner = Runner.start(link, sandbox.workers(), new LongLines(), spawn)) {
            Await.until("the runner ends", runner::isOver);
            assertThat(runner.trouble()).isEqualTo(trouble);
        }
    }
}
