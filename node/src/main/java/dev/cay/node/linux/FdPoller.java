package dev.cay.node.linux;

import java.time.Duration;

/// One thread that watches all borrowed descriptors by epoll, and keeps short timers. Start it once per node.
public final class FdPoller implements AutoCloseable {
    /// Runs on the poller's thread: must not block.
    public interface Callback {
        void ready(int events);
    }

    /// A watched descriptor. Safe from any thread.
    public interface Watch extends AutoCloseable {
        /// Takes the descriptor out of the set; nothing is lost, the data stays where it is.
        void pause();

        void resume();

        /// Ends the watch, not the descriptor.
        @Override
        void close();
    }

    /// A timer that has not run yet.
    public interface Timer {
        void cancel();
    }

    public static final int IN = 1;
    public static final int OUT = 4;

    public void start() {
        throw new UnsupportedOperationException();
    }

    /// Watches from the moment `resume` is called.
    public Watch watch(Descriptor descriptor, int events, Callback callback) throws ErrnoException {
        throw new UnsupportedOperationException();
    }

    /// Runs the action on the poller's thread after the delay.
    public Timer after(Duration delay, Runnable action) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
