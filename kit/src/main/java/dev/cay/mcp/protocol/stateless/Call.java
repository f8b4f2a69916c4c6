package dev.cay.mcp.protocol.stateless;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.Background;
import dev.cay.mcp.protocol.Conversation;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.Refusal;
import dev.cay.mcp.protocol.RpcException;
import dev.cay.mcp.protocol.stream.Outbox;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A request of 2026-07-28 on its way through a conversation. When the conversation asks its client something, the
/// client's request ends with the question, and this waits for it to come again with the answer: another leg of the
/// same call.
final class Call implements Conversation.Reply, SharedConversation.Pending {
    /// Keeps calls while their clients are away with a question.
    interface Parking {
        /// @return the word by which the client finds its call again
        String park(Call call);
    }

    /// Questions often come in pairs.
    private static final Duration GATHERING = Duration.ofMillis(25);

    private static final int MOST_QUESTIONS = 32;

    /// The field in a question's `_meta` by which a server of the older revisions, whose questions have no names, can
    /// name it.
    private static final String NAME = "dev.cay/inputKey";

    private static final Pattern FIT_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_.-]{0,63}");

    private static final List<String> LEVELS =
            List.of("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency");

    /// The kinds of questions to a client, and the capability that each needs.
    private static final Map<String, String> QUESTIONS =
            Map.of("elicitation/create", "elicitation", "sampling/createMessage", "sampling", "roots/list", "roots");

    private final SharedConversation conversation;
    private final Parking parking;
    private final JsonNode greeting;
    private final Message first;
    private final JsonNode id;
    private final long began = System.nanoTime();
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Message> asked = new LinkedHashMap<>();

    /// Answers that the client sent before the question was asked.
    private final Map<String, JsonNode> ahead = new HashMap<>();

    private Leg leg;
    private int questions;
    private boolean gathering;
    private boolean over;
    private @Nullable Message done;

    /// @param progress the client's token for it, may be missing
    private record Leg(Outbox box, JsonNode id, JsonNode progress, JsonNode logLevel) {
        static Leg of(Message request, Envelope envelope) {
            return new Leg(
                    new Outbox(1), request.id(), Envelope.meta(request).path("progressToken"), envelope.logLevel());
        }
    }

    Call(SharedConversation conversation, Parking parking, JsonNode greeting, Message request, Envelope envelope) {
        this.conversation = conversation;
        this.parking = parking;
        this.greeting = greeting;
        this.first = request;
        this.id = conversation.newId();
        this.leg = Leg.of(request, envelope);
    }

    @Override
    public JsonNode id() {
        return id;
    }

    String owner() {
        return conversation.owner;
    }

    @Override
    public Duration age() {
        return Duration.ofNanos(System.nanoTime() - began);
    }

    /// The messages for the client's current request.
    Outbox leg() {
        lock.lock();
        try {
            return leg.box;
        } finally {
            lock.unlock();
        }
    }

    boolean isSame(Message again) {
        return again.method().equals(first.method())
                && again.params().path("name").equals(first.params().path("name"))
                && again.params().path("uri").equals(first.params().path("uri"));
    }

    void begin() {
        conversation.begin(this);
        keep(first.params().path("inputResponses"));
        var params = first.params() instanceof ObjectNode given
                ? given.deepCopy()
                : Json.mapper().createObjectNode();
        params.remove(List.of("inputResponses", "requestState"));
        if (params.path("_meta") instanceof ObjectNode meta) {
            meta.remove(List.of(Envelope.VERSION, Envelope.CAPABILITIES, Envelope.CLIENT, Envelope.LOG_LEVEL));
            if (meta.has("progressToken")) {
                meta.set("progressToken", id);
            }
            if (meta.isEmpty()) {
                params.remove("_meta");
            }
        }
        try {
            conversation.turns().request(Message.request(id, first.method(), params), this);
        } catch (Refusal e) {
            conversation.end(this);
            throw e;
        }
    }

    /// The client has come again.
    void goOn(Message again, Envelope envelope) {
        var answers = new LinkedHashMap<String, Message>();
        lock.lock();
        try {
            leg = Leg.of(again, envelope);
            if (done != null) {
                leg.box.end(Results.complete(first.method(), leg.id, done, greeting));
                return;
            }
            if (over) {
                leg.box.end(
                        Message.error(leg.id, new RpcException(RpcException.INTERNAL_ERROR, "this call has ended")));
                return;
            }
            keep(again.params().path("inputResponses"));
            asked.forEach((key, question) -> {
                var answer = ahead.remove(key);
                if (answer != null) {
                    answers.put(key, Message.result(question.id(), answer));
                }
            });
            answers.keySet().forEach(asked::remove);
            if (!asked.isEmpty()) {
                gather();
            }
        } finally {
            lock.unlock();
        }
        answers.values().forEach(conversation.turns()::response);
    }

    /// Keeps answers that a client sends in advance. Malformed ones are ignored.
    private void keep(JsonNode given) {
        lock.lock();
        try {
            given.forEachEntry((key, answer) -> {
                if (answer.isObject()) {
                    ahead.put(key, answer);
                }
            });
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void send(Message message) {
        if (message.kind() == Message.Kind.REQUEST) {
            question(message);
            return;
        }
        switch (message.method()) {
            case "notifications/progress" -> progress(message);
            case "notifications/message" -> logged(message);
            case "notifications/cancelled" -> withdraw(message.params().path("requestId"));
            default -> conversation.changed(message);
        }
    }

    private void progress(Message message) {
        lock.lock();
        try {
            if (!leg.progress.isMissingNode() && message.params() instanceof ObjectNode given) {
                var params = given.deepCopy();
                params.set("progressToken", leg.progress);
                leg.box.send(Message.notification(message.method(), params));
            }
        } finally {
            lock.unlock();
        }
    }

    private void logged(Message message) {
        lock.lock();
        try {
            int least = LEVELS.indexOf(leg.logLevel.asString(""));
            if (least >= 0 && LEVELS.indexOf(message.params().path("level").asString("")) >= least) {
                leg.box.send(message);
            }
        } finally {
            lock.unlock();
        }
    }

    private void withdraw(JsonNode question) {
        lock.lock();
        try {
            asked.values().removeIf(one -> one.id().equals(question));
        } finally {
            lock.unlock();
        }
    }

    private void question(Message question) {
        String ability = QUESTIONS.get(question.method());
        if (ability != null && !conversation.capabilities().path(ability).isObject()) {
            cannot(ability);
            conversation.refuse(question);
            return;
        }
        lock.lock();
        try {
            if (ability != null && !over && asked.size() < MOST_QUESTIONS) {
                String key = key(question);
                var known = ahead.remove(key);
                if (known == null) {
                    asked.put(key, question);
                    gather();
                } else {
                    Background.run(() -> conversation.turns().response(Message.result(question.id(), known)));
                }
                return;
            }
        } finally {
            lock.unlock();
        }
        conversation.refuse(question);
    }

    private String key(Message question) {
        String name = Envelope.meta(question).path(NAME).asString("");
        if (FIT_NAME.matcher(name).matches() && !asked.containsKey(name)) {
            return name;
        }
        do {
            questions++;
        } while (asked.containsKey("q" + questions));
        return "q" + questions;
    }

    private void cannot(String ability) {
        var data = Json.mapper().createObjectNode();
        data.putObject("requiredCapabilities").putObject(ability);
        fail(new RpcException(Refusal.MISSING_CAPABILITY, "this needs a client with the capability " + ability, data));
    }

    private void gather() {
        if (!gathering && !leg.box.hasEnded()) {
            gathering = true;
            Background.run(this::ask);
        }
    }

    private void ask() {
        try {
            Thread.sleep(GATHERING);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        lock.lock();
        try {
            gathering = false;
            if (over || asked.isEmpty() || leg.box.hasEnded()) {
                return;
            }
            var told = Json.mapper().createObjectNode();
            asked.forEach((key, question) -> told.set(key, asInput(question)));
            leg.box.end(Results.inputRequired(leg.id, told, parking.park(this), greeting));
        } finally {
            lock.unlock();
        }
    }

    private static ObjectNode asInput(Message question) {
        var input = Json.mapper().createObjectNode().put("method", question.method());
        if (question.params() instanceof ObjectNode given) {
            var params = given.deepCopy();
            // No messages follow the answer there.
            params.remove(List.of("_meta", "elicitationId", "task"));
            input.set("params", params);
        }
        return input;
    }

    @Override
    public void end(Message response) {
        lock.lock();
        try {
            if (over) {
                return;
            }
            over = true;
            done = response;
            leg.box.end(Results.complete(first.method(), leg.id, response, greeting));
        } finally {
            lock.unlock();
        }
        conversation.end(this);
    }

    /// The client closed the stream, which cancels its request.
    void gone(Outbox box) {
        if (box == leg() && !box.hasEnded()) {
            cancel("its client disconnected");
        }
    }

    @Override
    public void cancel(String reason) {
        fail(new RpcException(RpcException.INTERNAL_ERROR, reason));
    }

    private void fail(RpcException error) {
        lock.lock();
        try {
            if (over) {
                return;
            }
            over = true;
            leg.box.end(Message.error(leg.id, error));
        } finally {
            lock.unlock();
        }
        conversation.end(this);
        Background.run(() -> conversation.turns().notification(Message.cancelled(id)));
    }
}
