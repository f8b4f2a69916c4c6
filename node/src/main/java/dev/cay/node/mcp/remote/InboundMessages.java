package dev.cay.node.mcp.remote;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.RpcException;
import dev.cay.node.mcp.server.ServerLink;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// Merges all streams of one connection for its listener, which gets one message at a time. Streams that wait for their
/// turn are not read, so the server waits.
final class InboundMessages {
    private static final Logger log = LoggerFactory.getLogger(InboundMessages.class);

    private final String server;
    private final ServerLink.Listener listener;
    private final ReentrantLock turn = new ReentrantLock(true);
    private volatile boolean closed;
    private volatile @Nullable String over;

    InboundMessages(String server, ServerLink.Listener listener) {
        this.server = server;
        this.listener = listener;
    }

    boolean open() {
        return !closed && over == null;
    }

    void requireOpen() {
        String reason = over;
        if (reason != null || closed) {
            throw new CayException(ErrorKind.UNAVAILABLE, reason == null ? server + " was closed" : reason);
        }
    }

    /// Parses the messages of a text: one, or a list as one revision had it; empty for anything else.
    List<Message> messages(byte[] json) {
        var messages = new ArrayList<Message>();
        try {
            if (!new String(json, 0, Math.min(json.length, 16), StandardCharsets.ISO_8859_1)
                    .strip()
                    .startsWith("[")) {
                return List.of(Message.parse(json));
            }
            for (var one : Json.mapper().readTree(json)) {
                messages.add(Message.parse(Json.write(one)));
            }
        } catch (JacksonException | RpcException _) {
            // Without the cause, which quotes the text.
            log.atDebug().addKeyValue("server", server).log("an MCP server sent text that is not an MCP message");
        }
        return messages;
    }

    void hear(Message message) {
        turn.lock();
        try {
            if (open()) {
                listener.heard(message);
            }
        } finally {
            turn.unlock();
        }
    }

    void letGo(JsonNode request) {
        turn.lock();
        try {
            if (open()) {
                listener.letGo(request);
            }
        } finally {
            turn.unlock();
        }
    }

    /// @param reason a sentence for the user
    void over(String reason) {
        turn.lock();
        try {
            if (open()) {
                over = reason;
                listener.over(reason);
            }
        } finally {
            turn.unlock();
        }
    }

    /// Waits for a message that is being delivered, but not for ever: the listener may be waiting for the thread that
    /// closes.
    void close() {
        closed = true;
        try {
            if (turn.tryLock(1, TimeUnit.SECONDS)) {
                turn.unlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
