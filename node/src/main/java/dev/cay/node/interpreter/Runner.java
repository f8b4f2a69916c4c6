package dev.cay.node.interpreter;

import dev.cay.node.guest.Exit;
import dev.cay.node.guest.GuestLink;
import dev.cay.node.guest.Spawn;
import dev.cay.node.lines.LineBuffer;
import dev.cay.node.lines.LineListener;
import dev.cay.node.lines.LineProcess;
import dev.cay.node.lines.LongLines;
import dev.cay.node.lines.Tail;
import dev.cay.node.process.Workers;
import java.io.IOException;
import java.net.ProtocolException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// A runner's process: lines go in, events come out.
///
/// To close it gives the pipes back and leaves the process as it is; the guest keeps its own ends.
final class Runner implements AutoCloseable {
    private static final int COMPLAINT = 4 << 10;
    private static final int SIGINT = 2;
    private static final Duration SEND_LIMIT = Duration.ofSeconds(60);

    /// How often a thread that waits for a slow listener checks whether other lines need the memory.
    private static final Duration LOOK = Duration.ofSeconds(1);

    /// Parses a runner's lines and puts the events into the mailbox.
    private static final class OutputReader implements LineListener {
        private final Mailbox mailbox = new Mailbox();
        private final Tail complaint = new Tail(COMPLAINT);
        private volatile Runnable tooSlow = () -> {};
        private volatile String end = "it does not answer";

        @Override
        public void line(byte[] line, LineBuffer lines) throws ProtocolException, InterruptedException {
            var event = Dialect.read(line);
            if (event.isEmpty()) {
                return;
            }
            while (!mailbox.put(event.get(), LOOK)) {
                hurry(lines);
            }
            // A long line needs its memory until it was sent.
            while (lines.isLong() && !mailbox.awaitDone(LOOK)) {
                hurry(lines);
            }
        }

        private void hurry(LineBuffer lines) {
            if (lines.isOverdue()) {
                tooSlow.run();
            }
        }

        @Override
        public void over(String reason, @Nullable Exit exit) {
            if (!reason.isEmpty()) {
                end = reason;
            } else {
                end = exit == null ? "it closed its output" : "it ended with " + exit.status();
            }
            mailbox.end(new RunnerEvent.Over(reason.isEmpty() ? complaint() : reason));
        }

        private String complaint() {
            return complaint.text().strip();
        }
    }

    private final LineProcess process;
    private final OutputReader reader;

    private Runner(LineProcess process, OutputReader reader) {
        this.process = process;
        this.reader = reader;
    }

    static Runner start(GuestLink link, Workers workers, LongLines room, Spawn spawn) throws IOException {
        var reader = new OutputReader();
        return begin(LineProcess.start(link, workers, room, spawn, reader.complaint), reader);
    }

    /// Attaches to a running runner. The last input may have been cut off in the middle of a line.
    static Runner attach(GuestLink link, Workers workers, LongLines room, LineProcess.Claim claim) throws IOException {
        var reader = new OutputReader();
        return begin(LineProcess.attach(link, workers, room, claim, reader.complaint), reader);
    }

    private static Runner begin(LineProcess process, OutputReader reader) throws IOException {
        process.hear(reader);
        return new Runner(process, reader);
    }

    int pid() {
        return process.pid();
    }

    boolean isOver() {
        return reader.mailbox.isOver();
    }

    /// Why the runner cannot be used: the last line of its stderr, or else how it ended.
    String trouble() {
        String complaint = reader.complaint();
        return complaint.isEmpty() ? reader.end : complaint;
    }

    /// Starts the delivery of events.
    ///
    /// @param slow runs when other lines wait for the memory of a line that this listener reads too slowly; must
    ///             not block
    void listen(Runnable slow) {
        reader.tooSlow = slow;
        reader.mailbox.listen(true);
    }

    void ignore() {
        reader.mailbox.listen(false);
    }

    /// The listener's current or next {@link #next} returns at once.
    void wakeListener() {
        reader.mailbox.wake();
    }

    @Nullable
    RunnerEvent next(Duration limit) throws InterruptedException {
        return reader.mailbox.take(limit);
    }

    /// Sends a line. Called by one thread at a time.
    void send(byte[] line) throws IOException {
        process.send(line, SEND_LIMIT);
    }

    void interrupt() {
        process.signal(SIGINT);
    }

    /// Kills the runner and its group, and has the guest forget it.
    void kill() {
        process.kill();
        reader.mailbox.end(new RunnerEvent.Over(""));
    }

    @Override
    public void close() {
        process.close();
        reader.mailbox.end(new RunnerEvent.Over(""));
    }
}
