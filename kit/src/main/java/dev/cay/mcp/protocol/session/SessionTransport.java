package dev.cay.mcp.protocol.session;

import dev.cay.http.Exchange;
import dev.cay.mcp.protocol.ConversationHost;
import dev.cay.mcp.protocol.McpHeaders;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.Refusal;
import dev.cay.mcp.protocol.stream.Answers;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// The revisions with sessions, up to 2025-11-25.
public final class SessionTransport implements AutoCloseable {
    private static final Set<String> VERSIONS = Set.of("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25");

    /// Clients of earlier ones take an event without data for a broken message.
    private static final String FIRST_WITH_PRIMING = "2025-11-25";

    private static final Duration LONGEST_GREETING = Duration.ofSeconds(60);
    private static final Pattern EVENT_ID = Pattern.compile("(\\d{1,15})-(\\d{1,15})");

    private final ConversationHost host;
    private final Sessions sessions;
    private final Answers answers;

    public SessionTransport(ConversationHost host, Sessions sessions, Answers answers) {
        this.host = host;
        this.sessions = sessions;
        this.answers = answers;
    }

    public void post(Exchange exchange, String owner, Message message) throws IOException, InterruptedException {
        if (message.kind() == Message.Kind.REQUEST && message.method().equals("initialize")) {
            initialize(exchange, owner, message);
            return;
        }
        var session = session(exchange, owner);
        session.enter();
        try {
            switch (message.kind()) {
                case REQUEST -> {
                    var begun = session.begin(message);
                    answers.answer(exchange, begun.box(), begun.work(), style(exchange));
                }
                case NOTIFICATION -> {
                    session.conversation().notification(message);
                    exchange.send(202);
                }
                case RESPONSE -> {
                    session.conversation().response(message);
                    exchange.send(202);
                }
            }
        } finally {
            session.leave();
        }
    }

    private void initialize(Exchange exchange, String owner, Message message) throws InterruptedException {
        var session = sessions.open(owner);
        boolean greeted = false;
        try {
            session.open(host.open(owner, session.general()::send));
            var box = session.request(message);
            Message answer = box.answer(LONGEST_GREETING)
                    .orElseThrow(() -> new Refusal(504, "the server did not answer in time").of(message.id()));
            greeted = answer.tree().has("result");
            if (greeted) {
                exchange.with(McpHeaders.SESSION, session.id);
            }
            answers.json(exchange, 200, answer.bytes());
        } finally {
            session.leave();
            if (!greeted) {
                sessions.end(session, "was not greeted");
            }
        }
    }

    /// The stream for what belongs to no request, or the rest of one that broke off.
    public void get(Exchange exchange, String owner) throws IOException, InterruptedException {
        var session = session(exchange, owner);
        Matcher last = EVENT_ID.matcher(
                String.valueOf(exchange.header("Last-Event-ID")).strip());
        boolean resumes = last.matches();
        var box = resumes ? session.box(Long.parseLong(last.group(1))).orElse(null) : session.general();
        if (box == null) {
            throw new Refusal(400, "Last-Event-ID names a stream that has ended");
        }
        if (!resumes && box.isCarried()) {
            throw new Refusal(409, "this session has such a stream already");
        }
        session.enter();
        try {
            long after = resumes ? Long.parseLong(last.group(2)) : box.carried();
            answers.follow(exchange, box, after, style(exchange));
        } finally {
            session.leave();
        }
    }

    public void delete(Exchange exchange, String owner) {
        sessions.end(session(exchange, owner), "its client ended it");
        exchange.send(204);
    }

    private Session session(Exchange exchange, String owner) {
        String id = exchange.header(McpHeaders.SESSION);
        if (id == null) {
            throw new Refusal(400, "the header Mcp-Session-Id is missing: begin with initialize");
        }
        var session = sessions.require(id, owner);
        String version = exchange.header(McpHeaders.VERSION);
        if (version != null && !VERSIONS.contains(version.strip())) {
            throw new Refusal(400, "MCP-Protocol-Version %s is not supported".formatted(Refusal.quoted(version)));
        }
        return session;
    }

    private static Answers.Style style(Exchange exchange) {
        @Nullable String version = exchange.header(McpHeaders.VERSION);
        return new Answers.Style(true, version != null && version.strip().compareTo(FIRST_WITH_PRIMING) >= 0);
    }

    /// Whether a client means one of these revisions by this text.
    static boolean speaks(JsonNode version) {
        return version.isString() && VERSIONS.contains(version.asString());
    }

    @Override
    public void close() {
        sessions.close();
    }
}
