package dev.cay.node;

import dev.cay.wire.CayException;
import java.util.ArrayList;
import java.util.List;

/// Steps of a removal, each of which is tried also when one before it failed. For one thread.
final class Attempts {
    private final List<String> failures = new ArrayList<>();

    /// @param what names the step, at the begin of a sentence
    void attempt(String what, Runnable step) {
        try {
            step.run();
        } catch (CayException e) {
            failures.add(what + ": " + e.userMessage());
        } catch (RuntimeException e) {
            failures.add(what + ": " + e);
        }
    }

    /// Adds what other attempts could not do.
    ///
    /// @param what stands before each of their sentences
    void addFailures(String what, List<String> others) {
        others.forEach(failure -> failures.add(what + ": " + failure));
    }

    /// What could not be done, a sentence each.
    List<String> failures() {
        return List.copyOf(failures);
    }
}
