package dev.cay.node.interpreter;

import dev.cay.http.Exchange;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;

/// The answer to one cell: a line of JSON for each event. A client that disconnects is noticed at once, and sending to
/// it never throws.
final class CellStream {
    private static final int BUFFER = 16 << 10;

    private final Exchange exchange;
    private final OutputStream out;
    private final InstantSource clock;
    private volatile boolean left;
    private boolean failed;

    /// Sends the head of the answer: clients measure the time of a cell from then on, even while it waits for its turn.
    ///
    /// @param onLeft runs once when the client has disconnected or everything is sent; must not block
    CellStream(Exchange exchange, InstantSource clock, Runnable onLeft) {
        this.exchange = exchange;
        this.clock = clock;
        this.out = new BufferedOutputStream(exchange.with("Cache-Control", "no-store").stream(200), BUFFER);
        exchange.onEnd(() -> {
            left = true;
            onLeft.run();
        });
        try {
            out.flush();
        } catch (IOException e) {
            left = true;
        }
    }

    boolean left() {
        return left;
    }

    void began(long count) {
        tell("number_of_executions", Map.of("execution_count", count));
    }

    void printed(RunnerEvent.Printed printed) {
        if (printed.text().isEmpty()) {
            return;
        }
        var fields = new LinkedHashMap<String, Object>();
        fields.put("text", printed.text());
        fields.put("timestamp", clock.instant().toString());
        tell(printed.toStderr() ? "stderr" : "stdout", fields);
    }

    void shown(RunnerEvent.Shown shown) {
        var value = new ShownValue(shown.line());
        send(value::write);
    }

    /// The first one only: clients know of one.
    void failed(String name, String value, String traceback) {
        if (failed) {
            return;
        }
        failed = true;
        var fields = new LinkedHashMap<String, Object>();
        fields.put("name", name);
        fields.put("value", value);
        fields.put("traceback", traceback);
        tell("error", fields);
    }

    void keepalive() {
        tell("keepalive", Map.of());
    }

    void ended() {
        tell("end_of_execution", Map.of());
    }

    /// The client sees the connection break, never a proper end. By any thread.
    void cut(String reason) {
        left = true;
        exchange.abort(reason);
    }

    private void tell(String type, Map<String, ?> fields) {
        var line = new LinkedHashMap<String, Object>();
        line.put("type", type);
        line.putAll(fields);
        send(to -> Dialect.write(line, to));
    }

    private interface Line {
        void write(OutputStream to) throws IOException;
    }

    private void send(Line line) {
        if (left) {
            return;
        }
        try {
            line.write(out);
            out.flush();
        } catch (IOException e) {
            left = true;
        }
    }
}
