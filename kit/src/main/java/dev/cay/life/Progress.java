package dev.cay.life;

/// Told what a long piece of work is doing, so that whoever waits can see that it moves. Thread-safe.
///
/// Steps may nest by being finished out of order; the text given to {@link #done} stands for itself ("base template,
/// 312 MB"). An implementation never throws and never blocks for long.
public interface Progress {
    /// A step begins, said in the words of the one who waits: "making the base template".
    void step(String what);

    /// News of the step under way: a size, a file name, a count.
    void detail(String text);

    /// A step is over and this came out of it.
    void done(String what);

    /// What was done since the last mark, for whoever asks later where the time went; nobody needs to read it now.
    default void mark(String what) {}

    /// For work nobody watches.
    static Progress silent() {
        return new Progress() {
            @Override
            public void step(String what) {}

            @Override
            public void detail(String text) {}

            @Override
            public void done(String what) {}
        };
    }
}
