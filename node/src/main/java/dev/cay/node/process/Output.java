package dev.cay.node.process;

import com.google.protobuf.ByteString;
import dev.cay.node.guest.Exit;

/// What a subscriber is told.
public sealed interface Output {
    /// Bytes of a stream, from an absolute offset on.
    record Data(Channel channel, long offset, ByteString bytes) implements Output {}

    /// The process has ended and so has its output; nothing follows.
    record End(Exit exit) implements Output {}

    /// Nothing happened for as long as the subscriber wanted to wait.
    record Silence() implements Output {}
}
