package dev.cay.mcp;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.Optional;
import java.util.function.Function;

/// Lifetimes of sandboxes, in milliseconds.
///
/// @param usual default for clients that name none
public record Lifetimes(int usual, int shortest, int longest) {
    private static final int USUAL = 300_000;
    private static final int SHORTEST = 1_000;
    private static final int LONGEST = 3_600_000;

    /// @param variables returns what an environment variable holds, if it is set
    static Lifetimes of(Function<String, Optional<String>> variables) {
        int shortest = number("MIN_SANDBOX_TIMEOUT_MS", variables).orElse(SHORTEST);
        int longest = number("MAX_SANDBOX_TIMEOUT_MS", variables).orElse(Math.max(LONGEST, shortest));
        if (shortest > longest) {
            throw invalid("MIN_SANDBOX_TIMEOUT_MS (%d) must not be more than MAX_SANDBOX_TIMEOUT_MS (%d)"
                    .formatted(shortest, longest));
        }
        // If only limits are set, the default is moved between them.
        int usual = number("DEFAULT_SANDBOX_TIMEOUT_MS", variables).orElse(Math.clamp(USUAL, shortest, longest));
        if (usual < shortest || usual > longest) {
            throw invalid(
                    ("DEFAULT_SANDBOX_TIMEOUT_MS (%d) must be from MIN_SANDBOX_TIMEOUT_MS (%d) to MAX_SANDBOX_TIMEOUT_MS"
                                    + " (%d)")
                            .formatted(usual, shortest, longest));
        }
        return new Lifetimes(usual, shortest, longest);
    }

    private static Optional<Integer> number(String name, Function<String, Optional<String>> variables) {
        return variables.apply(name).map(text -> {
            long number = text.matches("[0-9]{1,10}") ? Long.parseLong(text) : 0;
            if (number < SHORTEST || number > Integer.MAX_VALUE) {
                throw invalid("%s must be a number of milliseconds from %d to %d, not '%s'"
                        .formatted(name, SHORTEST, Integer.MAX_VALUE, text));
            }
            return (int) number;
        });
    }

    /// The error for an invalid variable.
    static CayException invalid(String message) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, message);
    }
}
