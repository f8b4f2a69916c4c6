package dev.cay.node.process;

import dev.cay.wire.CayException;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;

/// A subscriber to a process's output. Used by one thread, which reads and then sends; only {@link #close} may be
/// called by others.
///
/// A process waits for its subscribers, but not for ever: one that takes too long is disconnected.
public final class Subscription implements AutoCloseable {
    private final SandboxProcess process;
    private final Audience audience;
    private final OutputReader reader;

    private Subscription(SandboxProcess process, OutputReader reader) {
        this.process = process;
        this.audience = process.audience();
        this.reader = reader;
    }

    /// Subscribes from now on; the first one after a restart of the daemon starts where the last subscriber was.
    public static Subscription to(SandboxProcess process) {
        return new Subscription(process, process.audience().join());
    }

    /// Subscribes from these absolute offsets on; 0 means from the oldest byte kept, an absent stream from now on.
    public static Subscription to(SandboxProcess process, Map<Channel, Long> offsets) {
        return new Subscription(process, process.audience().join(offsets));
    }

    /// Continues after this one at the same process of the next table.
    public Subscription goOn(SandboxProcess there) {
        return new Subscription(there, there.audience().goOn(positions()));
    }

    public SandboxProcess process() {
        return process;
    }

    /// The absolute offset of each stream's next byte.
    public Map<Channel, Long> positions() {
        return audience.locked(() -> Map.copyOf(reader.at()));
    }

    /// The next piece of output, at most `limit` later.
    ///
    /// @throws CayException when this subscriber was cut off, because it was too slow or the table was closed
    public Output next(Duration limit) throws IOException, InterruptedException {
        return audience.next(reader, limit);
    }

    /// Notes that the last piece is about to be sent: after a crash of the daemon, a new subscriber continues after it.
    public void sending() {
        audience.sending(reader);
    }

    /// The last piece has left for the client.
    public void sent() {
        audience.sent(reader);
    }

    /// Runs when this subscriber is cut off, to free a thread that is stuck in sending.
    public void onCut(Runnable action) {
        if (audience.locked(() -> reader.onCut(action))) {
            action.run();
        }
    }

    /// Unsubscribes; the process runs on.
    @Override
    public void close() {
        audience.leave(reader);
    }
}
