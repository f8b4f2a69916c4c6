package dev.cay.node.process;

import dev.cay.wire.CayException;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;

/// Somebody who follows a process's output. Used by one thread, which reads and then sends; only {@link #close} may
/// come from elsewhere.
///
/// A process waits for those who follow it, but not for ever: one that takes too long is cut off.
public final class Subscription implements AutoCloseable {
    private final SandboxProcess process;
    private final Audience audience;
    private final OutputReader reader;

    private Subscription(SandboxProcess process, OutputReader reader) {
        this.process = process;
        this.audience = process.audience();
        this.reader = reader;
    }

    /// From now on; or, for the first one after a restart of the daemon, from where the last subscriber was.
    public static Subscription to(SandboxProcess process) {
        return new Subscription(process, process.audience().join());
    }

    /// From these absolute offsets on; 0 means from the oldest byte kept, an absent stream from now on.
    public static Subscription to(SandboxProcess process, Map<Channel, Long> offsets) {
        return new Subscription(process, process.audience().join(offsets));
    }

    /// Goes on behind what this one had, at the same process of another table: the one that this one's table was
    /// closed for.
    public Subscription goOn(SandboxProcess there) {
        return new Subscription(there, there.audience().goOn(positions()));
    }

    public SandboxProcess process() {
        return process;
    }

    /// From where on output is delivered: the absolute offset of each stream's next byte.
    public Map<Channel, Long> positions() {
        return audience.locked(() -> Map.copyOf(reader.at()));
    }

    /// The next piece of output, at most `limit` later.
    ///
    /// @throws CayException when this subscriber was cut off, because it was too slow or the table was closed
    public Output next(Duration limit) throws IOException, InterruptedException {
        return audience.next(reader, limit);
    }

    /// The last piece is about to be sent: after a crash of the daemon, a new subscriber goes on behind it.
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
