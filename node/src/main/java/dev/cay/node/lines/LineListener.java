package dev.cay.node.lines;

import dev.cay.node.guest.Exit;
import java.net.ProtocolException;
import org.jspecify.annotations.Nullable;

/// Receives the lines of a process, on one thread.
public interface LineListener {
    /// Receives a line. It may block, and then the process waits.
    ///
    /// @param lines the buffer of the line, which knows whether it is long
    void line(byte[] line, LineBuffer lines) throws ProtocolException, InterruptedException;

    /// The last call, once, unless it was closed.
    ///
    /// @param reason why it is given up; empty when it ended by itself
    /// @param exit   null when it only stopped talking
    void over(String reason, @Nullable Exit exit);
}
