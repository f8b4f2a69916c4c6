package dev.cay.prove.fuzz;

import java.io.IOException;

/// One kind of input.
public interface Target extends AutoCloseable {
    /// The name on the command line: `heads`.
    String name();

    /// Makes the input of a seed, sends it and waits for the result, with a limit. Any thread may call it.
    Played play(long seed) throws IOException, InterruptedException;

    /// Cleans up between inputs or while others run, and checks the state.
    ///
    /// @return a problem; empty without one
    String tidy() throws IOException, InterruptedException;

    /// Checks after the last input that everything was released.
    ///
    /// @return what was not; empty if all was
    String settle() throws IOException, InterruptedException;

    @Override
    void close() throws IOException;
}
