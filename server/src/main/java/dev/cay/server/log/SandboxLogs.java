package dev.cay.server.log;

import dev.cay.http.Json;
import dev.cay.metrics.Meters;
import dev.cay.metrics.Tally;
import dev.cay.server.event.EventStore;
import dev.cay.server.ring.RingFile;
import dev.cay.server.ring.RingLimits;
import dev.cay.server.store.Store;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import dev.cay.wire.node.LogLine;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/// The logs of sandboxes, also of ended ones: up to a megabyte each, kept for a week, in one file of fixed size.
public final class SandboxLogs implements AutoCloseable {
    /// Limits of the file.
    public static final RingLimits LIMITS = new RingLimits(4096, 256L << 20, 1 << 20, Duration.ofDays(7));
    /// Bytes for a line in a block, after its length.
    private static final int MOST_BYTES = 4096 - 64 - 2;

    private static final int MOST_EVENTS = 1000;

    /// A line in the form in which the file has it.
    record Kept(long at, String level, String logger, String message, Map<String, String> fields) {
        static Kept of(LogLine line, int most) {
            var fields = new TreeMap<String, String>();
            line.fields().forEach((name, value) -> fields.put(cut(name, most), cut(value, most)));
            return new Kept(
                    line.at().toEpochMilli(),
                    line.level().name(),
                    cut(line.logger(), most),
                    cut(line.message(), most),
                    fields);
        }

        LogLine line() {
            return new LogLine(Instant.ofEpochMilli(at), LogLine.Level.valueOf(level), logger, message, fields);
        }
    }

    /// The beginning of a text that is too long. A character of two units stays whole: receivers refuse half of one.
    static String cut(String text, int most) {
        if (text.length() <= most) {
            return text;
        }
        boolean between = most > 0 && Character.isHighSurrogate(text.charAt(most - 1));
        return text.substring(0, between ? most - 1 : most) + "…";
    }

    private final Store store;
    private final RingFile file;
    private final Tally lines;

    public SandboxLogs(Path path, Store store, InstantSource clock, Meters meters) {
        this.store = store;
        this.file = new RingFile(path, LIMITS, clock);
        this.lines = meters.tally("cay_log_lines_total", "Lines written to the logs of sandboxes");
        meters.gauge("cay_log_lines_dropped", "Lines of sandbox logs that were not kept", file::dropped);
    }

    /// Adds a line. Never blocks.
    public void add(SandboxId id, LogLine line) {
        lines.count();
        file.append(id.value(), encode(line));
    }

    /// All kept lines of the sandbox, oldest first.
    List<LogLine> of(TeamId teamId, SandboxId id) {
        var kept = new ArrayList<LogLine>();
        file.read(id.value()).forEach(block -> decode(block, kept));
        var query = new EventStore.Query(teamId, id.value(), List.of(), false, null, 0, MOST_EVENTS);
        var events = store.read(handle -> EventStore.list(handle, query).events());
        return Stream.concat(events.reversed().stream().map(EventLine::of), kept.stream())
                .sorted(Comparator.comparing(LogLine::at))
                .toList();
    }

    @Override
    public void close() {
        file.close();
    }

    /// Encodes a line; one that is too long for a block is cut until it fits.
    private static byte[] encode(LogLine line) {
        for (int most = 2000; ; most /= 2) {
            byte[] json = Json.write(Kept.of(line, most));
            if (json.length <= MOST_BYTES) {
                return ByteBuffer.allocate(json.length + 2)
                        .putShort((short) json.length)
                        .put(json)
                        .array();
            }
        }
    }

    private static void decode(byte[] block, List<LogLine> lines) {
        var bytes = ByteBuffer.wrap(block);
        while (bytes.remaining() > 2) {
            byte[] json = new byte[Math.min(bytes.getShort(), bytes.remaining())];
            bytes.get(json);
            var kept = Json.read(json, Kept.class);
            if (kept != null) {
                lines.add(kept.line());
            }
        }
    }
}
