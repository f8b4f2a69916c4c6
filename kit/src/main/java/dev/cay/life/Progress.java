package dev.cay.life;

/// Reports the progress of long work to the one who waits for it. Thread-safe.
///
/// Steps may overlap; the text given to {@link #done} is complete by itself ("base template, 312 MB"). An
/// implementation never throws and never blocks for long.
public interface Progress {
    /// A step begins, described from the waiting user's view: "making the base template".
    void step(String what);

    /// News of the step under way: a size, a file name, a count.
    void detail(String text);

    /// A step has ended with this result.
    void done(String what);

    /// Names the work since the last mark, for later questions about where the time went.
    default void mark(String what) {}

    /// Progress that nobody watches.
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
