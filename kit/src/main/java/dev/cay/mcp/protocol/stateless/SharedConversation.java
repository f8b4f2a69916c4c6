package dev.cay.mcp.protocol.stateless;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.Background;
import dev.cay.mcp.protocol.Conversation;
import dev.cay.mcp.protocol.ConversationHost;
import dev.cay.mcp.protocol.IdleTracker;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.Refusal;
import dev.cay.mcp.protocol.RpcException;
import dev.cay.mcp.protocol.SerialConversation;
import dev.cay.mcp.protocol.stream.Outbox;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// One conversation for all requests of an owner whose clients have the same capabilities. These clients send no
/// `initialize`, so this class sends it. Ids are mapped, because those of different clients may be equal.
final class SharedConversation implements Conversation.Client, AutoCloseable {
    /// A client's open request in this conversation.
    interface Pending {
        /// The mapped id, not the client's.
        JsonNode id();

        /// How long the request is open.
        Duration age();

        /// Something for its client.
        void send(Message message);

        /// Ends it, and tells its client why.
        void cancel(String reason);
    }

    private static final Duration LONGEST_GREETING = Duration.ofSeconds(60);
    private static final Duration LONGEST_LIST = Duration.ofSeconds(30);
    private static final int MOST_PAGES = 100;
    private static final int MOST_CALLS = 256;

    /// The capabilities that are announced to a conversation; it does not know others.
    private static final Set<String> ABILITIES = Set.of("elicitation", "sampling", "roots", "experimental");

    final String owner;
    private final ConversationHost host;
    private final ObjectNode capabilities;
    private final ReentrantLock greeting = new ReentrantLock();
    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicLong ids = new AtomicLong();
    private final AtomicLong toolChanges = new AtomicLong();
    private final Map<JsonNode, Pending> calls = new ConcurrentHashMap<>();
    private final Set<Subscription> subscriptions = ConcurrentHashMap.newKeySet();
    private final Map<String, Integer> watched = new HashMap<>();
    private final IdleTracker idleTracker = new IdleTracker();
    private volatile @Nullable SerialConversation conversation;
    private volatile @Nullable JsonNode greeted;
    private volatile @Nullable ParameterHeaders headers;
    private volatile boolean closed;

    SharedConversation(ConversationHost host, String owner, ObjectNode capabilities) {
        this.host = host;
        this.owner = owner;
        this.capabilities = capabilities;
    }

    ObjectNode capabilities() {
        return capabilities;
    }

    /// The conversation's answer to `initialize`.
    JsonNode greeting(JsonNode client) throws InterruptedException {
        var known = greeted;
        if (known != null) {
            return known;
        }
        if (!greeting.tryLock(LONGEST_GREETING.toMillis(), TimeUnit.MILLISECONDS)) {
            throw late();
        }
        try {
            return greeted == null ? greet(client) : greeted;
        } finally {
            greeting.unlock();
        }
    }

    private JsonNode greet(JsonNode client) throws InterruptedException {
        var opened = conversation;
        if (opened == null) {
            opened = new SerialConversation(host.open(owner, this));
            conversation = opened;
        }
        if (closed) {
            opened.close();
            throw new Refusal(503, "the server is stopping");
        }
        var params = Json.mapper().createObjectNode().put("protocolVersion", "2025-11-25");
        var told = params.putObject("capabilities");
        capabilities.properties().stream()
                .filter(ability -> ABILITIES.contains(ability.getKey()))
                .forEach(ability -> told.set(ability.getKey(), ability.getValue()));
        boolean named = client.path("name").isString() && client.path("version").isString();
        params.set(
                "clientInfo",
                named
                        ? client
                        : Json.mapper()
                                .createObjectNode()
                                .put("name", "unnamed")
                                .put("version", "0"));
        var answer = ask("initialize", params, LONGEST_GREETING);
        opened.notification(
                Message.notification("notifications/initialized", Json.mapper().createObjectNode()));
        greeted = answer;
        return answer;
    }

    private static Refusal late() {
        return new Refusal(504, RpcException.INTERNAL_ERROR, "the server did not answer in time");
    }

    /// Sends a request of this class itself.
    private JsonNode ask(String method, ObjectNode params, Duration limit) throws InterruptedException {
        var box = new Outbox(0);
        turns().request(Message.request(newId(), method, params), box);
        var answer = box.answer(limit).orElseThrow(SharedConversation::late).tree();
        if (!answer.has("result")) {
            var error = answer.path("error");
            int code = error.path("code").asInt(RpcException.INTERNAL_ERROR);
            throw new Refusal(200, code, error.path("message").asString("the server failed"));
        }
        return answer.path("result");
    }

    SerialConversation turns() {
        var now = conversation;
        if (now == null) {
            throw new Refusal(503, "the server is not ready");
        }
        return now;
    }

    JsonNode newId() {
        return StringNode.valueOf("c" + ids.incrementAndGet());
    }

    /// Which arguments are repeated in headers.
    ParameterHeaders parameterHeaders() throws InterruptedException {
        var known = headers;
        if (known != null) {
            return known;
        }
        long changes = toolChanges.get();
        var found = new ParameterHeaders();
        var params = Json.mapper().createObjectNode();
        for (int page = 0; page < MOST_PAGES; page++) {
            var list = ask("tools/list", params, LONGEST_LIST);
            found.add(list.path("tools"));
            if (!list.path("nextCursor").isString()) {
                break;
            }
            params = Json.mapper().createObjectNode();
            params.set("cursor", list.path("nextCursor"));
        }
        if (changes == toolChanges.get()) {
            headers = found;
        }
        return found;
    }

    void begin(Pending call) {
        if (calls.size() >= MOST_CALLS) {
            throw new Refusal(429, "%d requests are under way already".formatted(MOST_CALLS));
        }
        calls.put(call.id(), call);
    }

    void end(Pending call) {
        calls.remove(call.id());
        touch();
    }

    List<Pending> calls() {
        return List.copyOf(calls.values());
    }

    /// Finds the client for a message of the conversation: changes go to subscribers; a question goes to the only
    /// caller, and is refused if there are several.
    @Override
    public void send(Message message) {
        switch (message.kind()) {
            case NOTIFICATION -> changed(message);
            case REQUEST -> {
                var under = calls();
                if (under.size() == 1) {
                    under.getFirst().send(message);
                } else {
                    refuse(message);
                }
            }
            case RESPONSE -> {}
        }
    }

    @Override
    public boolean takesQuestions() {
        return false;
    }

    /// Refuses a question on another thread, because this one may be in the middle of the conversation.
    void refuse(Message question) {
        Message answer = question.method().equals("ping")
                ? Message.result(question.id(), Json.mapper().createObjectNode())
                : Message.error(
                        question.id(),
                        new RpcException(RpcException.METHOD_NOT_FOUND, "this client cannot be asked for that now"));
        Background.run(() -> turns().response(answer));
    }

    void changed(Message notification) {
        if (notification.method().equals("notifications/tools/list_changed")) {
            toolChanges.incrementAndGet();
            headers = null;
        }
        subscriptions.forEach(subscription -> subscription.hear(notification));
    }

    void subscribe(Subscription subscription) throws InterruptedException {
        var fresh = new ArrayList<String>();
        lock.lock();
        try {
            subscriptions.add(subscription);
            for (String uri : subscription.uris()) {
                if (watched.merge(uri, 1, Integer::sum) == 1) {
                    fresh.add(uri);
                }
            }
        } finally {
            lock.unlock();
        }
        for (String uri : fresh) {
            ask("resources/subscribe", Json.mapper().createObjectNode().put("uri", uri), LONGEST_LIST);
        }
    }

    void unsubscribe(Subscription subscription) {
        lock.lock();
        try {
            if (!subscriptions.remove(subscription)) {
                return;
            }
            for (String uri : subscription.uris()) {
                if (watched.merge(uri, -1, Integer::sum) == 0) {
                    watched.remove(uri);
                    var params = Json.mapper().createObjectNode().put("uri", uri);
                    var request = Message.request(newId(), "resources/unsubscribe", params);
                    Background.run(() -> turns().request(request, new Outbox(0)));
                }
            }
        } finally {
            lock.unlock();
        }
        touch();
    }

    int subscribed() {
        return subscriptions.size();
    }

    boolean tryEnter() {
        lock.lock();
        try {
            if (!closed) {
                idleTracker.enter();
            }
            return !closed;
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

    /// How long the conversation was unused; empty while it is in use.
    Optional<Duration> idle() {
        return calls.isEmpty() && subscriptions.isEmpty() ? idleTracker.idle() : Optional.empty();
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        subscriptions.forEach(Subscription::end);
        calls.values().forEach(call -> call.cancel("the server is stopping"));
        var last = conversation;
        if (last != null) {
            last.close();
        }
    }
}
