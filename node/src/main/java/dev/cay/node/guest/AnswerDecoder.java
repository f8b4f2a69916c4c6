package dev.cay.node.guest;

import java.io.IOException;

/// Makes what a caller of {@link GuestLink} asked for from the frame of an answer.
interface AnswerDecoder<T> {
    /// @param lent holds the descriptors that came with the frame
    T decode(Frames.Frame frame, Frames lent) throws IOException;
}
