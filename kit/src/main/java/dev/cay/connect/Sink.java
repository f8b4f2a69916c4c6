package dev.cay.connect;

import com.google.protobuf.Message;
import java.io.IOException;
import java.util.function.Function;

/// Receives the answers of a streaming call; each one is sent when `send` returns. Any thread may send.
public interface Sink<A extends Message> {
    default void send(A message) throws IOException {
        send(message, () -> {});
    }

    /// Sends, and runs the action when only the write itself is left to do.
    void send(A message, Runnable leaving) throws IOException;

    /// The last one: it may leave together with the end of the stream, which must come next.
    void sendLast(A message) throws IOException;

    /// A sink for values that are converted into answers.
    default <T extends Message> Sink<T> accepting(Function<T, A> answer) {
        var answers = this;
        return new Sink<>() {
            @Override
            public void send(T message, Runnable leaving) throws IOException {
                answers.send(answer.apply(message), leaving);
            }

            @Override
            public void sendLast(T message) throws IOException {
                answers.sendLast(answer.apply(message));
            }
        };
    }
}
