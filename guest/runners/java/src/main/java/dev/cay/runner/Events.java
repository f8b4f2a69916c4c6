package dev.cay.runner;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

/// The one way out: a queue of lines and printed text, in the order it happened, and one thread that writes it.
///
/// Cells only ever append. A stack that overflows while printing, or a thread that is interrupted, can so never leave
/// half a line on the pipe. Who prints faster than the node reads waits here.
final class Events {
    enum Channel {
        OUT("out"),
        ERR("err");

        private final String event;

        Channel(String event) {
            this.event = event;
        }
    }

    /// A longer line would be refused by the node.
    private static final int LONGEST_LINE = 32 << 20;

    private static final Duration GATHER = Duration.ofMillis(20);
    private static final int CHUNK = 64 << 10;
    private static final int MOST_WAITING = 4 * CHUNK;

    private final int descriptor;
    private final ArrayDeque<Entry> queue = new ArrayDeque<>();
    private final Map<Channel, byte[]> cut = new EnumMap<>(Channel.class);
    private int waiting;
    private boolean writing;

    Events(int descriptor) {
        this.descriptor = descriptor;
    }

    void start() {
        Thread.ofPlatform().name("cay events").daemon().start(this::writeAll);
    }

    void print(Channel channel, byte[] bytes, int from, int length) {
        for (int done = 0; done < length; ) {
            int part = Math.min(CHUNK, length - done);
            append(channel, bytes, from + done, part);
            done += part;
        }
    }

    /// Sends an event, unless it is longer than the node would take: then it says false.
    boolean send(String event, Map<String, ?> fields) {
        var line = new StringBuilder("{\"event\":\"").append(event).append('"');
        fields.forEach((name, value) -> {
            line.append(',');
            Json.quote(name, line);
            line.append(':');
            Json.write(value, line);
        });
        line.append("}\n");
        if (line.length() > LONGEST_LINE) {
            return false;
        }
        synchronized (this) {
            queue.add(new Line(line.toString(), event.equals("end")));
            notifyAll();
        }
        return true;
    }

    /// Waits until everything was written, but not for ever: the node may have stopped reading.
    synchronized void flush(Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        while (writing || !queue.isEmpty()) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                return;
            }
            pause(left);
        }
    }

    private synchronized void append(Channel channel, byte[] bytes, int from, int length) {
        boolean interrupted = false;
        while (waiting >= MOST_WAITING) {
            interrupted |= pause(GATHER.toNanos());
        }
        textFor(channel, length).bytes.write(bytes, from, length);
        waiting += length;
        notifyAll();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private Text textFor(Channel channel, int length) {
        if (queue.peekLast() instanceof Text text && text.channel == channel && text.bytes.size() + length <= CHUNK) {
            return text;
        }
        var text = new Text(channel, new ByteArrayOutputStream(Math.max(length, 128)), System.nanoTime());
        queue.add(text);
        return text;
    }

    private void writeAll() {
        try (var arena = Arena.ofConfined()) {
            var buffer = arena.allocate(CHUNK);
            while (true) {
                var lines = lines(next());
                if (!write(lines, buffer)) {
                    Runtime.getRuntime().halt(0);
                }
                synchronized (this) {
                    writing = false;
                    notifyAll();
                }
            }
        }
    }

    /// The oldest entry. Text that is still the newest waits for more to come.
    private synchronized Entry next() {
        while (true) {
            var first = queue.peek();
            if (first == null) {
                pause(0);
                continue;
            }
            if (first instanceof Text text && queue.size() == 1 && text.bytes.size() < CHUNK) {
                long left = text.since + GATHER.toNanos() - System.nanoTime();
                if (left > 0) {
                    pause(left);
                    continue;
                }
            }
            queue.remove();
            writing = true;
            if (first instanceof Text text) {
                waiting -= text.bytes.size();
            }
            return first;
        }
    }

    private String lines(Entry entry) {
        return switch (entry) {
            case Line(String line, boolean last) -> last ? leftovers() + line : line;
            case Text text -> printed(text.channel, whole(text.channel, text.bytes.toByteArray()));
        };
    }

    /// E2B's own Java kernel sends the end of a line apart from the line, and clients compare with the bare line.
    private static String printed(Channel channel, String text) {
        if (text.isEmpty()) {
            return "";
        }
        if (channel == Channel.OUT && text.length() > 1 && text.endsWith("\n")) {
            return event(channel, text.substring(0, text.length() - 1)) + event(channel, "\n");
        }
        return event(channel, text);
    }

    private static String event(Channel channel, String text) {
        var line = new StringBuilder(text.length() + 48);
        line.append("{\"event\":\"").append(channel.event).append("\",\"text\":");
        Json.quote(text, line);
        return line.append("}\n").toString();
    }

    /// Decodes all but the last character if that is not complete yet; what is missing may come with the next bytes.
    private String whole(Channel channel, byte[] bytes) {
        var before = cut.remove(channel);
        if (before != null) {
            var both = new byte[before.length + bytes.length];
            System.arraycopy(before, 0, both, 0, before.length);
            System.arraycopy(bytes, 0, both, before.length, bytes.length);
            bytes = both;
        }
        int end = Utf8.completeLength(bytes);
        if (end < bytes.length) {
            cut.put(channel, Arrays.copyOfRange(bytes, end, bytes.length));
        }
        return new String(bytes, 0, end, StandardCharsets.UTF_8);
    }

    /// Half a character at the end of a cell will not be completed any more.
    private String leftovers() {
        var lines = new StringBuilder();
        cut.forEach((channel, bytes) -> lines.append(event(channel, new String(bytes, StandardCharsets.UTF_8))));
        cut.clear();
        return lines.toString();
    }

    private boolean write(String lines, MemorySegment buffer) {
        var bytes = lines.getBytes(StandardCharsets.ISO_8859_1);
        for (int done = 0; done < bytes.length; ) {
            int part = (int) Math.min(buffer.byteSize(), bytes.length - done);
            MemorySegment.copy(bytes, done, buffer, ValueLayout.JAVA_BYTE, 0, part);
            if (!Libc.write(descriptor, buffer.asSlice(0, part))) {
                return false;
            }
            done += part;
        }
        return true;
    }

    /// Waits to be told of a change; says whether the thread was interrupted meanwhile, and forgets that.
    @SuppressWarnings("WaitNotInLoop") // its callers loop
    private boolean pause(long nanos) {
        try {
            wait(nanos / 1_000_000, (int) (nanos % 1_000_000));
            return false;
        } catch (InterruptedException e) {
            return true;
        }
    }

    private sealed interface Entry {}

    private record Line(String line, boolean last) implements Entry {}

    private record Text(Channel channel, ByteArrayOutputStream bytes, long since) implements Entry {}
}
