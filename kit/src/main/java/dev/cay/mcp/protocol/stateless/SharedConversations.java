package dev.cay.mcp.protocol.stateless;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.Background;
import dev.cay.mcp.protocol.ConversationHost;
import dev.cay.mcp.protocol.Refusal;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The conversations behind stateless requests; each ends when it was idle for long.
public final class SharedConversations implements AutoCloseable {
    private final ConversationHost host;
    private final int most;
    private final Duration idle;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Key, SharedConversation> open = new HashMap<>();
    private boolean closed;

    private record Key(String owner, String capabilities) {}

    public SharedConversations(ConversationHost host, int most, Duration idle) {
        this.host = host;
        this.most = most;
        this.idle = idle;
    }

    /// The conversation for a request. Leave it at the request's end.
    SharedConversation enter(String owner, ObjectNode capabilities) {
        var key = new Key(owner, Json.text(capabilities));
        @Nullable SharedConversation evicted = null;
        SharedConversation conversation;
        lock.lock();
        try {
            if (closed) {
                throw new Refusal(503, "the server is stopping");
            }
            var known = open.get(key);
            if (known != null && known.tryEnter()) {
                return known;
            }
            if (open.size() >= most) {
                var oldest = longestIdle(owner)
                        .orElseThrow(() -> new Refusal(503, "there are too many conversations; try again later"));
                evicted = open.remove(oldest);
            }
            conversation = new SharedConversation(host, owner, capabilities);
            conversation.tryEnter();
            open.put(key, conversation);
        } finally {
            lock.unlock();
        }
        if (evicted != null) {
            Background.run(evicted::close);
        }
        return conversation;
    }

    private Optional<Key> longestIdle(String owner) {
        var byIdleness = Comparator.comparing((Key key) -> idleness(key).orElse(Duration.ZERO));
        var unused =
                open.keySet().stream().filter(key -> idleness(key).isPresent()).toList();
        return unused.stream()
                .filter(key -> key.owner.equals(owner))
                .max(byIdleness)
                .or(() -> unused.stream().max(byIdleness));
    }

    private Optional<Duration> idleness(Key key) {
        return Optional.ofNullable(open.get(key)).flatMap(SharedConversation::idle);
    }

    /// Removes a conversation whose `initialize` failed.
    void forget(SharedConversation conversation) {
        lock.lock();
        try {
            open.values().remove(conversation);
        } finally {
            lock.unlock();
        }
        conversation.close();
    }

    int subscribed(String owner) {
        lock.lock();
        try {
            return open.values().stream()
                    .filter(conversation -> conversation.owner.equals(owner))
                    .mapToInt(SharedConversation::subscribed)
                    .sum();
        } finally {
            lock.unlock();
        }
    }

    void touch() {
        lock.lock();
        try {
            open.values().forEach(SharedConversation::touch);
        } finally {
            lock.unlock();
        }
    }

    /// Closes idle conversations and cancels long calls. Called periodically.
    void sweep(Duration longestCall) {
        List<SharedConversation> all;
        List<SharedConversation> unused;
        lock.lock();
        try {
            all = List.copyOf(open.values());
            unused = all.stream()
                    .filter(one ->
                            one.idle().filter(time -> time.compareTo(idle) > 0).isPresent())
                    .toList();
            open.values().removeAll(unused);
        } finally {
            lock.unlock();
        }
        all.stream()
                .flatMap(conversation -> conversation.calls().stream())
                .filter(call -> call.age().compareTo(longestCall) > 0)
                .forEach(call -> call.cancel("this took longer than " + longestCall));
        unused.forEach(one -> Background.run(one::close));
    }

    @Override
    public void close() {
        List<SharedConversation> all;
        lock.lock();
        try {
            closed = true;
            all = List.copyOf(open.values());
            open.clear();
        } finally {
            lock.unlock();
        }
        Background.runAll(all.stream().<Runnable>map(one -> one::close).toList());
    }
}
