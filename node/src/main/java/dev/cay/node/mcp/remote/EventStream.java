package dev.cay.node.mcp.remote;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Server-sent events, read one by one.
final class EventStream {
    private static final int LONGEST_FIELD = 1024;

    /// @param data the bytes as they came, lines joined by a newline
    record Event(String name, byte[] data) {}

    private final InputStream in;
    private final MessageMemory room;
    private @Nullable String lastId;
    private @Nullable Duration retry;
    private boolean afterReturn;

    /// @param room counts the size of events that are kept in memory
    EventStream(InputStream in, MessageMemory room) {
        this.in = new BufferedInputStream(in, 16 * 1024);
        this.room = room;
    }

    /// The id of the last event that had one; null if none had.
    @Nullable
    String lastId() {
        return lastId;
    }

    /// The server's reconnection delay; null without one.
    @Nullable
    Duration retry() {
        return retry;
    }

    /// Empty at the end. What the end cut off is not an event.
    Optional<Event> next() throws IOException {
        var data = new ByteArrayOutputStream();
        String name = "message";
        boolean any = false;
        room.empty();
        for (byte[] line = line(); line != null; line = line()) {
            if (line.length == 0) {
                if (any) {
                    room.complete();
                    return Optional.of(new Event(name, data.toByteArray()));
                }
                name = "message";
                continue;
            }
            int colon = indexOf(line, ':');
            String field = text(line, 0, colon < 0 ? line.length : colon);
            int from =
                    colon < 0 ? line.length : colon + 1 < line.length && line[colon + 1] == ' ' ? colon + 2 : colon + 1;
            switch (field) {
                case "data" -> {
                    if (any) {
                        data.write('\n');
                    }
                    any = true;
                    data.write(line, from, line.length - from);
                }
                case "event" -> name = text(line, from, line.length);
                case "id" -> id(text(line, from, line.length));
                case "retry" -> retry(text(line, from, line.length));
                default -> {
                    // A comment, or an unknown field.
                }
            }
            if (!field.equals("data")) {
                room.giveBack(line.length);
            }
        }
        return Optional.empty();
    }

    private void id(String id) {
        // The id is sent back in a header.
        if (!id.isEmpty() && id.chars().allMatch(c -> c >= ' ' && c < 0x7f) && id.length() < LONGEST_FIELD) {
            lastId = id;
        }
    }

    private void retry(String text) {
        if (text.matches("\\d{1,9}")) {
            retry = Duration.ofMillis(Long.parseLong(text));
        }
    }

    /// Lines end with a return, a newline, or both.
    private byte @Nullable [] line() throws IOException {
        var line = new ByteArrayOutputStream();
        while (true) {
            int next = in.read();
            if (next < 0) {
                return null;
            }
            boolean second = afterReturn && next == '\n';
            afterReturn = next == '\r';
            if (second) {
                continue;
            }
            if (next == '\n' || next == '\r') {
                return line.toByteArray();
            }
            room.take(1);
            line.write(next);
        }
    }

    private static int indexOf(byte[] line, char wanted) {
        for (int i = 0; i < line.length; i++) {
            if (line[i] == wanted) {
                return i;
            }
        }
        return -1;
    }

    private static String text(byte[] line, int from, int to) {
        return new String(line, from, Math.min(to - from, LONGEST_FIELD), StandardCharsets.UTF_8);
    }
}
