package dev.cay.node.process;

import dev.cay.wire.CayException;
import org.jspecify.annotations.Nullable;

/// Brings what a process prints to those who follow it, as {@link Pump} sees it. Must not block.
interface OutputDelivery {
    /// Where output comes from, which can be made to wait.
    interface Source {
        Channel channel();

        OutputLog output();

        /// Goes on after it was made to wait.
        void resume();
    }

    /// How many bytes of the stream may be taken now without leaving a subscriber behind.
    int allowance(Source source);

    /// Resumes the source when its allowance has grown.
    void makeWait(Source source);

    /// So many bytes are in the log that nobody was told of.
    ///
    /// @param bytes what arrived, if it is at hand
    void arrived(Channel channel, OutputLog log, int count, byte @Nullable [] bytes);

    /// Whether nobody follows.
    boolean isEmpty();

    /// @param free whether threads that are stuck in sending are freed, and their clients with them
    void cutAll(CayException reason, boolean free);
}
