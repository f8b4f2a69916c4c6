package dev.cay.node.process;

import dev.cay.node.guest.GuestLink;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.HostThreads;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// The processes that were started in one sandbox. Thread-safe.
///
/// Order: `new`, {@link #adopt}, use, {@link #close}; then close the link. A table never outlives its link: after a
/// checkpoint or a restart of the daemon a new one on the same directory goes on where the old one stopped.
public final class ProcessTable implements AutoCloseable {
    /// @param logBytes    how much output of a process is kept
    /// @param stall       a subscriber that takes nothing for so long, while the process waits for it, is cut off
    /// @param retention   how long an ended process can still be connected to
    /// @param inputLimit  how long an input may wait for the process to take it
    public record Settings(long logBytes, Duration stall, Duration retention, Duration inputLimit) {
        public static final Settings DEFAULT =
                new Settings(1 << 20, Duration.ofSeconds(30), Duration.ofSeconds(30), Duration.ofSeconds(60));
    }

    /// @param directory of this sandbox alone, on a file system that lives as long as the sandbox runs; made if missing
    /// @param threads   for log files; shared by all tables
    public ProcessTable(Path directory, GuestLink link, FdPoller poller, HostThreads threads, Settings settings) {
        throw new UnsupportedOperationException();
    }

    /// Takes over what runs in the sandbox already; none in a new one.
    public void adopt() {
        throw new UnsupportedOperationException();
    }

    /// Starts a process; the caller is subscribed from its first byte on.
    public Subscription start(Launch launch) {
        throw new UnsupportedOperationException();
    }

    /// A process that runs, or ended a moment ago.
    public Optional<SandboxProcess> find(Selector selector) {
        throw new UnsupportedOperationException();
    }

    /// Those that run.
    public List<SandboxProcess> list() {
        throw new UnsupportedOperationException();
    }

    /// Gives back every borrowed descriptor and cuts subscribers off; the processes run on.
    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
