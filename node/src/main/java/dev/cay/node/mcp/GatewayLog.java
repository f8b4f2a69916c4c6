package dev.cay.node.mcp;

import dev.cay.node.log.SandboxLog;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// The log of a gateway: in the sandbox's log, and in a file inside for its users. Contains no credential: credentials
/// were removed from servers' texts before. Never blocks. Thread-safe.
///
/// The file is written as a whole: at once after a quiet time, and less often while lines keep coming.
public final class GatewayLog {
    private static final int MOST_LINES = 500;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(25);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

    /// The file inside.
    public interface Paper {
        /// May fail, as root inside can put anything in the way; that is then its own loss.
        void write(byte[] content) throws Exception;
    }

    private final SandboxLog log;
    private final InstantSource clock;
    private final Deque<String> lines = new ArrayDeque<>();
    private @Nullable Paper paper;
    private boolean writing;
    private boolean dirty;

    GatewayLog(SandboxLog log, InstantSource clock) {
        this.log = log;
        this.clock = clock;
    }

    void say(String text) {
        log.info("mcp-gateway", "MCP gateway", Map.of("event_type", "mcp", "text", text));
        synchronized (this) {
            lines.add(clock.instant().truncatedTo(ChronoUnit.MILLIS) + " " + text);
            if (lines.size() > MOST_LINES) {
                lines.removeFirst();
            }
            dirty = true;
        }
        write();
    }

    /// Sets the file.
    ///
    /// @param sheet null when there is none
    void on(@Nullable Paper sheet) {
        synchronized (this) {
            paper = sheet;
        }
        write();
    }

    private synchronized void write() {
        if (paper != null && !writing) {
            writing = true;
            Thread.ofVirtual().name("mcp-log").start(this::writeAll);
        }
    }

    /// Writes until there is nothing new after a pause.
    private void writeAll() {
        for (var pause = FIRST_PAUSE; writeOnce(); pause = longer(pause)) {
            LockSupport.parkNanos(pause.toNanos());
        }
    }

    private static Duration longer(Duration pause) {
        var twice = pause.multipliedBy(2);
        return twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
    }

    /// @return false if there was nothing to write, or nothing to write on
    private boolean writeOnce() {
        Paper sheet;
        byte[] content;
        synchronized (this) {
            sheet = paper;
            if (!dirty || sheet == null) {
                writing = false;
                return false;
            }
            dirty = false;
            content = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
        }
        try {
            sheet.write(content);
        } catch (Exception e) {
            // The lines are in the sandbox's log too.
            on(null);
        }
        return true;
    }
}
