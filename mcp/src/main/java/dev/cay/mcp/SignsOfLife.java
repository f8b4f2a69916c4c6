package dev.cay.mcp;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.Conversation.Reply;
import dev.cay.mcp.protocol.Message;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Sends progress of a call to a client that asked for it: its output, but not too often, and the elapsed time when
/// there is none.
final class SignsOfLife implements Tool.Progress, AutoCloseable {
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(500);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
    private static final int LONGEST_TEXT = 200;

    private final Reply reply;
    private final JsonNode token;
    private final long began = System.nanoTime();
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Thread clock;
    private long last = began - SHORTEST_PAUSE.toNanos();
    private int count;
    private boolean closed;

    private SignsOfLife(Reply reply, JsonNode token) {
        this.reply = reply;
        this.token = token;
    }

    /// @param token missing when the client does not want any
    static SignsOfLife to(Reply reply, JsonNode token) {
        var signs = new SignsOfLife(reply, token);
        if (!token.isMissingNode()) {
            signs.clock = Thread.ofVirtual().name("signs-of-life").start(signs::tick);
        }
        return signs;
    }

    private void tick() {
        try {
            while (true) {
                Thread.sleep(LONGEST_PAUSE);
                var time = Duration.ofNanos(System.nanoTime() - began);
                tell("running for %d s".formatted(time.toSeconds()), LONGEST_PAUSE);
            }
        } catch (InterruptedException e) {
            // The call is over.
        }
    }

    @Override
    public void say(String what) {
        if (!token.isMissingNode()) {
            tell(what.strip(), SHORTEST_PAUSE);
        }
    }

    /// @param pause nothing is sent if something was within this time
    private void tell(String text, Duration pause) {
        lock.lock();
        try {
            long now = System.nanoTime();
            if (closed || now - last < pause.toNanos()) {
                return;
            }
            last = now;
            var params = Json.mapper().createObjectNode();
            params.set("progressToken", token);
            params.put("progress", ++count)
                    .put("message", text.length() > LONGEST_TEXT ? text.substring(0, LONGEST_TEXT) : text);
            reply.send(Message.notification("notifications/progress", params));
        } finally {
            lock.unlock();
        }
    }

    /// Nothing comes behind the answer.
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        if (clock != null) {
            clock.interrupt();
        }
    }
}
