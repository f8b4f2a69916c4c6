package dev.cay.sdk;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// What came of a cell.
///
/// @param count how many cells its context has run
/// @param error what the code raised; null when it ran to its end
public record Execution(
        List<Result> results,
        String stdout,
        String stderr,
        @Nullable Raised error,
        int count,
        boolean cut) {
    /// An exception of the code inside, in the words of its language.
    public record Raised(String name, String value, String traceback) {}

    public Execution {
        results = List.copyOf(results);
    }

    /// Of the cell's last line.
    public Optional<String> text() {
        return results.stream().filter(Result::main).findFirst().flatMap(Result::text);
    }
}
