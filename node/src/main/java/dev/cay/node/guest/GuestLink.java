package dev.cay.node.guest;

import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.NetNamespace;
import java.io.IOException;
import java.time.Duration;

/// The connection to one sandbox's guest. Costs a descriptor, not a thread: frames are read by the poller.
///
/// Close it before a checkpoint, and {@link dev.cay.node.process.ProcessTable} before it.
public final class GuestLink implements AutoCloseable {
    /// What the guest tells unasked. Runs on the poller's thread: must not block.
    public interface Listener {
        void exited(int pid, Exit exit);

        /// The link is gone and was not closed by us: the guest died, was replaced, or spoke nonsense.
        void lost(String reason);
    }

    /// Connects, greets, and returns when the guest has answered; tries again until `limit` while nobody listens there.
    public static GuestLink open(NetNamespace network, FdPoller poller, Duration limit) throws IOException {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
