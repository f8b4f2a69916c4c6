package dev.cay.node.mcp.intercept;

import dev.cay.wire.CayException;
import java.time.Duration;

/// Who is asked what shall become of a call.
interface InterceptorBackend {
    /// Most bytes of a question and of an answer.
    int MOST = 1 << 20;

    /// Waits for the answer no longer than the limit.
    ///
    /// @return JSON, if all is well; empty for nothing to say
    /// @throws CayException with the end of a sentence that begins with its name, and never with what it said
    byte[] ask(byte[] question, Duration limit) throws InterruptedException;
}
