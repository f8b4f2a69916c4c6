package dev.cay.prove.fuzz;

import java.io.IOException;

/// One kind of input.
public interface Target extends AutoCloseable {
    /// What it is asked for by: `heads`.
    String name();

    /// Makes the input of a seed, sends it and waits for what comes of it, with a limit. Any thread may call it.
    Played play(long seed) throws IOException, InterruptedException;

    /// Now and then, between inputs or beside them: ends what they may leave behind, and sees that all is well.
    ///
    /// @return what is not; empty for nothing
    String tidy() throws IOException, InterruptedException;

    /// When no more inputs come: all that they left must go away.
    ///
    /// @return what did not; empty for nothing
    String settle() throws IOException, InterruptedException;

    @Override
    void close() throws IOException;
}
