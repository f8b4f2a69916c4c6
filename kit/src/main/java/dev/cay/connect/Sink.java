package dev.cay.connect;

import com.google.protobuf.Message;
import java.io.IOException;
import java.util.function.Function;

/// Where a streaming call puts its answers; each one is on the wire when `send` returns. Any thread may send.
public interface Sink<A extends Message> {
    default void send(A message) throws IOException {
        send(message, () -> {});
    }

    /// The same, and runs the action when nothing but the write itself is left to do.
    void send(A message, Runnable leaving) throws IOException;

    /// The last one: it may leave together with the end of the stream, which must come next.
    void sendLast(A message) throws IOException;

    /// The same place for what can be made into an answer.
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
