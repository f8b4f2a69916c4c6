package dev.cay.mcp.protocol.stateless;

import dev.cay.http.Exchange;
import dev.cay.mcp.protocol.McpHeaders;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.Refusal;
import dev.cay.mcp.protocol.RpcException;
import dev.cay.mcp.protocol.stream.Answers;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/// The transport of revision 2026-07-28, in which requests are independent of each other.
public final class StatelessTransport implements AutoCloseable {
    public static final String REVISION = "2026-07-28";

    /// Methods that only the older revisions have.
    private static final Set<String> GONE =
            Set.of("initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe");

    private static final Answers.Style STYLE = new Answers.Style(false, false);

    /// How long an answer may take to be sent alone with a status of its own.
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final int MOST_SUBSCRIPTIONS = 64;

    private final SharedConversations conversations;
    private final ParkedCalls parked = new ParkedCalls();
    private final Answers answers;

    public StatelessTransport(SharedConversations conversations, Answers answers) {
        this.conversations = conversations;
        this.answers = answers;
    }

    /// Whether a message is one of this revision.
    public static boolean means(Exchange exchange, Message message) {
        if (Envelope.meta(message).has(Envelope.VERSION)) {
            return true;
        }
        if (message.method().equals("initialize") || exchange.header(McpHeaders.SESSION) != null) {
            return false;
        }
        String version = exchange.header(McpHeaders.VERSION);
        return exchange.header("Mcp-Method") != null
                || (version != null && version.strip().equals(REVISION));
    }

    public void post(Exchange exchange, String owner, Message message) throws IOException, InterruptedException {
        switch (message.kind()) {
            case REQUEST -> request(exchange, owner, message);
            // No notification has a meaning without a session.
            case NOTIFICATION -> exchange.send(202);
            case RESPONSE -> throw new Refusal(400, RpcException.INVALID_REQUEST, "nothing was asked");
        }
    }

    private void request(Exchange exchange, String owner, Message message) throws IOException, InterruptedException {
        var envelope = Envelope.read(exchange, message);
        if (GONE.contains(message.method())) {
            throw new Refusal(
                    404,
                    RpcException.METHOD_NOT_FOUND,
                    "%s does not exist in %s".formatted(message.method(), REVISION));
        }
        var conversation = conversations.enter(owner, envelope.capabilities());
        try {
            var greeting = greeting(conversation, envelope);
            switch (message.method()) {
                case "server/discover" ->
                    answers.json(
                            exchange,
                            200,
                            Results.discovery(message.id(), greeting).bytes());
                case "subscriptions/listen" -> listen(exchange, conversation, message, greeting);
                default -> call(exchange, conversation, message, envelope, greeting);
            }
        } finally {
            conversation.leave();
        }
    }

    private JsonNode greeting(SharedConversation conversation, Envelope envelope) throws InterruptedException {
        try {
            return conversation.greeting(envelope.client());
        } catch (RuntimeException e) {
            conversations.forget(conversation);
            throw e;
        }
    }

    private void listen(Exchange exchange, SharedConversation conversation, Message message, JsonNode greeting)
            throws IOException, InterruptedException {
        if (conversations.subscribed(conversation.owner) >= MOST_SUBSCRIPTIONS) {
            throw new Refusal(429, "there are %d subscriptions already".formatted(MOST_SUBSCRIPTIONS));
        }
        var wanted = message.params().path("notifications");
        var subscription = new Subscription(message.id(), wanted, greeting);
        try {
            subscription.acknowledge();
            conversation.subscribe(subscription);
            answers.follow(exchange, subscription.box(), 0, STYLE);
        } finally {
            conversation.unsubscribe(subscription);
        }
    }

    private void call(
            Exchange exchange, SharedConversation conversation, Message message, Envelope envelope, JsonNode greeting)
            throws IOException, InterruptedException {
        boolean ofTool = message.method().equals("tools/call");
        if (ofTool && greeting.path("capabilities").has("tools")) {
            conversation.parameterHeaders().check(exchange, message);
        }
        var state = message.params().path("requestState");
        Call call;
        if (state.isString()) {
            call = parked.take(state.asString(), conversation.owner, message);
            call.goOn(message, envelope);
        } else {
            call = new Call(conversation, parked, greeting, message, envelope);
            call.begin();
        }
        var leg = call.leg();
        exchange.onEnd(() -> call.gone(leg));
        answers.answer(exchange, leg, STYLE, ofTool ? Answers.MOMENT : PATIENCE, StatelessTransport::status);
    }

    private static int status(Message answer) {
        return switch (answer.tree().path("error").path("code").asInt(0)) {
            case RpcException.METHOD_NOT_FOUND -> 404;
            case Refusal.MISSING_CAPABILITY -> 400;
            default -> 200;
        };
    }

    /// Restarts the idle time of all conversations.
    public void touch() {
        conversations.touch();
    }

    /// Closes idle conversations. Called periodically.
    public void sweep(Duration longestCall) {
        parked.sweep();
        conversations.sweep(longestCall);
    }

    @Override
    public void close() {
        conversations.close();
    }
}
