package dev.cay.mcp.protocol.session;

import dev.cay.mcp.protocol.Conversation;
import dev.cay.mcp.protocol.IdleTracker;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.Refusal;
import dev.cay.mcp.protocol.RpcException;
import dev.cay.mcp.protocol.SerialConversation;
import dev.cay.mcp.protocol.stream.Outbox;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// A client of the older revisions with its conversation, and the messages it has not fetched yet.
final class Session implements AutoCloseable {
    /// An agent may well want a hundred things at once; a call that waits costs a few kilobytes.
    private static final int MOST_CALLS = 256;

    private static final int MOST_KEPT = 32;
    private static final int MOST_BYTES_KEPT = 8 << 20;

    final String id;
    final String owner;
    private final ReentrantLock lock = new ReentrantLock();
    private final Outbox general = new Outbox(0);
    private final Map<Long, Call> calls = new LinkedHashMap<>();
    private final IdleTracker idleTracker = new IdleTracker();
    private @Nullable SerialConversation conversation;
    private long numbers;
    private boolean closed;

    private record Call(JsonNode request, Outbox box) {}

    /// A request that was accepted.
    ///
    /// @param work work that the caller must do for it; null if there is none
    record Accepted(Outbox box, @Nullable Runnable work) {}

    Session(String id, String owner) {
        this.id = id;
        this.owner = owner;
    }

    /// @param opened with the way to the client for what belongs to none of its requests
    void open(Conversation opened) {
        var turns = new SerialConversation(opened);
        lock.lock();
        try {
            if (!closed) {
                conversation = turns;
                return;
            }
        } finally {
            lock.unlock();
        }
        turns.close();
        throw gone();
    }

    /// Messages that belong to none of the client's requests.
    Outbox general() {
        return general;
    }

    SerialConversation conversation() {
        lock.lock();
        try {
            if (closed || conversation == null) {
                throw gone();
            }
            return conversation;
        } finally {
            lock.unlock();
        }
    }

    static Refusal gone() {
        return new Refusal(404, "there is no such session: it ended, or was not used for long; initialize again");
    }

    /// Accepts a request; its messages appear in the outbox.
    Outbox request(Message request) {
        var turns = conversation();
        var box = newBox(request.id());
        try {
            turns.request(request, box);
        } catch (Refusal e) {
            box.close();
            throw e;
        }
        return box;
    }

    /// Accepts a request of a caller that can spare its thread.
    Accepted begin(Message request) {
        var turns = conversation();
        var box = newBox(request.id());
        try {
            return new Accepted(box, turns.begin(request, box).orElse(null));
        } catch (Refusal e) {
            box.close();
            throw e;
        }
    }

    private Outbox newBox(JsonNode request) {
        lock.lock();
        try {
            forgetDone();
            if (calls.size() >= MOST_CALLS
                    && calls.values().stream()
                                    .filter(call -> !call.box.hasEnded())
                                    .count()
                            >= MOST_CALLS) {
                throw new Refusal(429, "%d requests of this session are under way already".formatted(MOST_CALLS));
            }
            var box = new Outbox(++numbers);
            calls.put(box.number, new Call(request, box));
            return box;
        } finally {
            lock.unlock();
        }
    }

    /// Removes the oldest completed calls when they become too many or too large.
    private void forgetDone() {
        calls.values().removeIf(call -> call.box.isDelivered());
        if (calls.isEmpty()) {
            return;
        }
        var done = new ArrayList<>(calls.values().stream()
                .map(Call::box)
                .filter(box -> box.hasEnded() && !box.isCarried())
                .toList());
        long bytes = done.stream().mapToLong(Outbox::size).sum();
        while (!done.isEmpty() && (done.size() > MOST_KEPT || bytes > MOST_BYTES_KEPT)) {
            var oldest = done.removeFirst();
            bytes -= oldest.size();
            calls.remove(oldest.number);
        }
    }

    Optional<Outbox> box(long number) {
        lock.lock();
        try {
            return number == 0
                    ? Optional.of(general)
                    : Optional.ofNullable(calls.get(number)).map(Call::box);
        } finally {
            lock.unlock();
        }
    }

    /// The client is here; must be followed by {@link #leave}.
    void enter() {
        lock.lock();
        try {
            if (closed) {
                throw gone();
            }
            idleTracker.enter();
        } finally {
            lock.unlock();
        }
    }

    void leave() {
        idleTracker.leave();
    }

    void touch() {
        idleTracker.touch();
    }

    /// How long the session was unused; empty while it is in use.
    Optional<Duration> idle() {
        lock.lock();
        try {
            boolean busy = calls.values().stream().anyMatch(call -> !call.box.hasEnded());
            return busy ? Optional.empty() : idleTracker.idle();
        } finally {
            lock.unlock();
        }
    }

    /// Cancels calls that run longer than the limit.
    void endCallsOver(Duration limit) {
        List<Call> late;
        lock.lock();
        try {
            forgetDone();
            late = calls.values().stream()
                    .filter(call -> !call.box.hasEnded() && System.nanoTime() - call.box.opened > limit.toNanos())
                    .toList();
        } finally {
            lock.unlock();
        }
        for (var call : late) {
            var error = new RpcException(RpcException.INTERNAL_ERROR, "this took longer than " + limit);
            if (call.box.tryEnd(Message.error(call.request, error))) {
                conversation().notification(Message.cancelled(call.request));
            }
        }
    }

    @Override
    public void close() {
        SerialConversation last;
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            last = conversation;
            calls.values().forEach(call -> call.box.close());
            calls.clear();
        } finally {
            lock.unlock();
        }
        general.close();
        if (last != null) {
            last.close();
        }
    }
}
