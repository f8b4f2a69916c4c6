package dev.cay.sdk;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The result of a cell.
///
/// @param count number of cells that the context has run
/// @param error the exception of the code; null if it ran to its end
public record Execution(
        List<Result> results,
        String stdout,
        String stderr,
        @Nullable Raised error,
        int count,
        boolean cut) {
    /// An exception of the code, as its language reports it.
    public record Raised(String name, String value, String traceback) {}

    public Execution {
        results = List.copyOf(results);
    }

    /// The text of the value of the cell's last line.
    public Optional<String> text() {
        return results.stream().filter(Result::main).findFirst().flatMap(Result::text);
    }
}
