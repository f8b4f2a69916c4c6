package dev.cay.node.process;

import com.google.protobuf.ByteString;
import dev.cay.node.guest.Exit;

/// An event for a subscriber.
public sealed interface Output {
    /// Bytes of a stream, from an absolute offset on.
    record Data(Channel channel, long offset, ByteString bytes) implements Output {}

    /// The process has ended and so has its output; nothing follows.
    record End(Exit exit) implements Output {}

    /// No event within the subscriber's limit.
    record Silence() implements Output {}
}
