package dev.cay.node.mcp.intercept;

import dev.cay.wire.CayException;
import java.time.Duration;

/// Sends a call to an interceptor's program or address, and returns its answer.
interface InterceptorBackend {
    /// Most bytes of a call and of an answer.
    int MOST = 1 << 20;

    /// Waits for the answer, at most the limit.
    ///
    /// @return JSON; empty to leave the call as it is
    /// @throws CayException with the end of a sentence that begins with its name, and never with its output
    byte[] ask(byte[] question, Duration limit) throws InterruptedException;
}
