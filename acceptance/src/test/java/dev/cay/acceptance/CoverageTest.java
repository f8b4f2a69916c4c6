package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.acceptance.ClientTests.Result;
import dev.cay.acceptance.ClientTests.Run;
import dev.cay.testing.Fast;
import java.util.List;
import org.junit.jupiter.api.Test;

/// A public method of a client that no case calls is found, and so is one whose only case is skipped.
@Fast
final class CoverageTest {
    private static final List<String> METHODS = List.of("Commands.run", "Commands.list", "Git.clone");

    private static Run run(Result... results) {
        return new Run(List.of(results), METHODS, "");
    }

    @Test
    void aMethodWithoutACaseIsFound() {
        var commands = run(new Result("runs and lists", true, false, List.of("Commands.run", "Commands.list")));
        var git = run(new Result("clones", true, false, List.of("Git.clone")));
        assertThat(ClientTests.uncovered(List.of(commands, git))).isEmpty();
        assertThat(ClientTests.uncovered(List.of(commands))).containsExactly("Git.clone");
    }

    @Test
    void aSkippedCaseCoversNothing() {
        var skipped = run(new Result("does all", true, true, METHODS));
        assertThat(ClientTests.uncovered(List.of(skipped))).containsExactlyInAnyOrderElementsOf(METHODS);
    }
}
