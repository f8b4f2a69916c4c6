package dev.cay.mcp.protocol.stream;

import dev.cay.http.Exchange;
import dev.cay.life.WaitLimits;
import dev.cay.mcp.protocol.Message;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/// Sends the messages of outboxes to clients, as one JSON text or as a stream of events. A client that does not read
/// for a while is disconnected; its messages stay in the outbox.
public final class Answers {
    public static final Duration MOMENT = Duration.ofMillis(250);
    private static final byte[] NOTHING = {};
    private static final byte[] END = {'\n', '\n'};

    /// How soon a client whose stream ended early may reconnect.
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final Map<Exchange, Long> writing = new ConcurrentHashMap<>();
    private final WaitLimits limits = new WaitLimits();
    private final Duration keepAlive;

    /// @param keepAlive how long a stream may be silent; four times as long a client may not read
    public Answers(Duration keepAlive) {
        this.keepAlive = keepAlive;
    }

    /// The form of events.
    ///
    /// @param named  whether they have ids, by which a client can reconnect for the rest
    /// @param primed whether a first event without data gives the client such an id at once
    public record Style(boolean named, boolean primed) {}

    /// Sends one JSON text if the answer comes in time and alone, else a stream.
    ///
    /// @param atOnce the limit for an answer that is sent alone
    /// @param status the HTTP status of an answer that is sent alone
    public void answer(Exchange exchange, Outbox box, Style style, Duration atOnce, ToIntFunction<Message> status)
            throws IOException, InterruptedException {
        var carrier = box.carry(style.primed());
        try {
            exchange.onEnd(() -> box.leave(carrier));
            carry(exchange, box, carrier, style, System.nanoTime() + atOnce.toNanos(), status);
        } finally {
            box.leave(carrier);
        }
    }

    /// Sends with status 200, for a request whose work the caller's thread does.
    ///
    /// @param work null if other threads do it
    public void answer(Exchange exchange, Outbox box, @Nullable Runnable work, Style style)
            throws IOException, InterruptedException {
        if (work == null) {
            answer(exchange, box, style, MOMENT, _ -> 200);
            return;
        }
        var carrier = box.carry(style.primed());
        long deadline = System.nanoTime() + MOMENT.toNanos();
        try {
            var sender =
                    new SecondSender(box, deadline, () -> carry(exchange, box, carrier, style, deadline, _ -> 200));
            try {
                exchange.onEnd(() -> box.leave(carrier));
            } finally {
                sender.during(work, limits);
            }
        } finally {
            box.leave(carrier);
        }
    }

    private void carry(
            Exchange exchange,
            Outbox box,
            Outbox.Carrier carrier,
            Style style,
            long deadline,
            ToIntFunction<Message> status)
            throws IOException, InterruptedException {
        await(box, carrier, deadline);
        Optional<Outbox.Answer> only = box.onlyAnswer();
        if (only.isPresent()) {
            json(exchange, status.applyAsInt(only.get().message()), only.get().data());
            box.delivered();
        } else {
            stream(exchange, box, carrier, 0, style);
        }
    }

    /// Returns when there is a message to send, another carrier has taken over, or the deadline has passed.
    private void await(Outbox box, Outbox.Carrier carrier, long deadline) throws InterruptedException {
        if (box.hasNews()) {
            return;
        }
        WaitLimits.Wait wait = now -> {
            if (now - deadline >= 0) {
                box.wakeUp();
            }
        };
        limits.add(wait);
        try {
            var _ = box.next(0, carrier, () -> System.nanoTime() - deadline >= 0);
        } finally {
            limits.remove(wait);
        }
    }

    /// Sends the messages after that number, until there are no more or another carrier takes over.
    public void follow(Exchange exchange, Outbox box, long after, Style style)
            throws IOException, InterruptedException {
        var carrier = box.carry(style.primed());
        try {
            exchange.onEnd(() -> box.leave(carrier));
            stream(exchange, box, carrier, after, style);
        } finally {
            box.leave(carrier);
        }
    }

    private void stream(Exchange exchange, Outbox box, Outbox.Carrier carrier, long after, Style style)
            throws IOException, InterruptedException {
        exchange.with("Content-Type", "text/event-stream")
                .with("Cache-Control", "no-cache, no-transform")
                .with("X-Accel-Buffering", "no");
        OutputStream out = exchange.stream(200);
        put(exchange, out, style.primed() ? priming(box, after, style) : NOTHING);
        long position = after;
        while (box.isCarriedBy(carrier)) {
            var next = box.next(position, carrier, keepAlive);
            if (next.isPresent()) {
                put(
                        exchange,
                        out,
                        event(box, next.get().number(), style, next.get().data()));
                position = next.get().number();
                box.carried(position);
            } else if (box.isOverAt(position)) {
                return;
            } else {
                put(exchange, out, ": still here\n\n".getBytes(StandardCharsets.US_ASCII));
            }
        }
    }

    private static byte[] priming(Outbox box, long after, Style style) {
        byte[] retry = "retry: %d\n".formatted(RETRY.toMillis()).getBytes(StandardCharsets.US_ASCII);
        return joined(retry, event(box, after, style, NOTHING));
    }

    private static byte[] event(Outbox box, long number, Style style, byte[] data) {
        String id = style.named() ? "id: %d-%d\n".formatted(box.number, number) : "";
        byte[] head = ("event: message\n" + id + "data: ").getBytes(StandardCharsets.US_ASCII);
        return joined(head, data, END);
    }

    private static byte[] joined(byte[]... parts) {
        var all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    public void json(Exchange exchange, int status, byte[] body) {
        writing.put(exchange, System.nanoTime());
        try {
            exchange.send(status, "application/json", body);
        } finally {
            writing.remove(exchange);
        }
    }

    private void put(Exchange exchange, OutputStream out, byte[] bytes) throws IOException {
        writing.put(exchange, System.nanoTime());
        try {
            out.write(bytes);
            out.flush();
        } finally {
            writing.remove(exchange);
        }
    }

    /// Disconnects clients that do not read. Called periodically.
    public void cutSlowReaders() {
        long now = System.nanoTime();
        writing.forEach((exchange, since) -> {
            if (now - since > keepAlive.multipliedBy(4).toNanos()) {
                exchange.abort("the client does not read");
            }
        });
    }
}
