package dev.cay.node.process;

import dev.cay.wire.CayException;
import org.jspecify.annotations.Nullable;

/// Delivers a process's output to subscribers, as {@link Pump} sees it. Must not block.
interface OutputDelivery {
    /// A source of output, which can be made to wait.
    interface Source {
        Channel channel();

        OutputLog output();

        /// Continues after it was made to wait.
        void resume();
    }

    /// How many bytes of the stream may be read now without losing data for a subscriber.
    int allowance(Source source);

    /// Resumes the source when its allowance has grown.
    void makeWait(Source source);

    /// Reports bytes that are in the log.
    ///
    /// @param bytes the bytes, if they are in memory
    void arrived(Channel channel, OutputLog log, int count, byte @Nullable [] bytes);

    /// Whether there are no subscribers.
    boolean isEmpty();

    /// @param free whether threads that are stuck in sending are freed, and their clients with them
    void cutAll(CayException reason, boolean free);
}
