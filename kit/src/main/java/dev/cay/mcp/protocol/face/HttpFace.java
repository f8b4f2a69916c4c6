package dev.cay.mcp.protocol.face;

import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.mcp.protocol.ConversationHost;
import dev.cay.mcp.protocol.McpHeaders;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.Refusal;
import dev.cay.mcp.protocol.session.SessionTransport;
import dev.cay.mcp.protocol.session.Sessions;
import dev.cay.mcp.protocol.stateless.SharedConversations;
import dev.cay.mcp.protocol.stateless.StatelessTransport;
import dev.cay.mcp.protocol.stream.Answers;
import java.time.Duration;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Serves MCP clients over HTTP at one path: clients of the revisions with sessions, each of which has one
/// conversation, and clients of 2026-07-28, which has neither sessions nor `initialize`. Conversations do not see the
/// difference.
public final class HttpFace implements Handler, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(HttpFace.class);
    private static final Duration SWEEP = Duration.ofSeconds(5);
    private static final Duration LONGEST_CALL = Duration.ofHours(1);

    /// @param largestMessage in bytes; larger requests get 413
    /// @param idle           how long an unused session lives
    /// @param mostSessions   most sessions; beyond that the one idle for longest is closed
    /// @param keepAlive      how long a stream is silent before a keep-alive is sent; a client that reads nothing
    ///                       for four times as long is disconnected
    /// @param hosts          host names, in lower case and without port, that are accepted in `Host` and `Origin`
    ///                       besides those of the machine itself
    public record Settings(
            int largestMessage, Duration idle, int mostSessions, Duration keepAlive, Predicate<String> hosts) {
        public static Settings usual() {
            return new Settings(8 << 20, Duration.ofMinutes(30), 200, Duration.ofSeconds(15), _ -> false);
        }

        public Settings withHosts(Predicate<String> accepted) {
            return new Settings(largestMessage, idle, mostSessions, keepAlive, accepted);
        }
    }

    private final ConversationHost host;
    private final RequestChecks checks;
    private final Answers answers;
    private final Sessions sessions;
    private final SessionTransport sessionTransport;
    private final StatelessTransport statelessTransport;
    private final Thread sweeper;

    public HttpFace(ConversationHost host, Settings settings) {
        this.host = host;
        checks = new RequestChecks(host, settings.largestMessage(), settings.hosts());
        answers = new Answers(settings.keepAlive());
        sessions = new Sessions(settings.mostSessions(), settings.idle());
        sessionTransport = new SessionTransport(host, sessions, answers);
        statelessTransport = new StatelessTransport(
                new SharedConversations(host, settings.mostSessions(), settings.idle()), answers);
        sweeper = Thread.ofVirtual().name("mcp-sweeper").unstarted(() -> sweepEvery(pause(settings.idle())));
    }

    /// Ends from now on what nobody uses any more. To be called once, before the first request.
    public void start() {
        sweeper.start();
    }

    private static Duration pause(Duration idle) {
        return idle.dividedBy(4).compareTo(SWEEP) < 0 ? idle.dividedBy(4) : SWEEP;
    }

    /// Answers any request to the path.
    @Override
    public void handle(Exchange exchange) throws Exception {
        try {
            String owner = checks.owner(exchange);
            checks.checkHosts(exchange);
            switch (exchange.method()) {
                case "POST" -> post(exchange, owner);
                case "GET" -> {
                    refuseNewEra(exchange);
                    checks.checkAcceptsEvents(exchange);
                    sessionTransport.get(exchange, owner);
                }
                case "DELETE" -> {
                    refuseNewEra(exchange);
                    sessionTransport.delete(exchange, owner);
                }
                default -> throw notAllowed(exchange, "DELETE, GET, POST");
            }
        } catch (Refusal e) {
            answers.json(exchange.retryLater(e.status()), e.status(), e.body());
        }
    }

    private void post(Exchange exchange, String owner) throws Exception {
        var message = checks.message(exchange);
        try {
            if (StatelessTransport.means(exchange, message)) {
                statelessTransport.post(exchange, owner, message);
            } else {
                sessionTransport.post(exchange, owner, message);
            }
        } catch (Refusal e) {
            throw message.kind() == Message.Kind.REQUEST ? e.of(message.id()) : e;
        }
    }

    private static void refuseNewEra(Exchange exchange) {
        String version = exchange.header(McpHeaders.VERSION);
        if (version != null && version.strip().equals(StatelessTransport.REVISION)) {
            throw notAllowed(exchange, "POST");
        }
    }

    private static Refusal notAllowed(Exchange exchange, String allowed) {
        exchange.with("Allow", allowed);
        return new Refusal(405, "method %s is not allowed here".formatted(Refusal.quoted(exchange.method())));
    }

    /// Sessions there are now, of the revisions that have them.
    public int sessions() {
        return sessions.count();
    }

    private void sweepEvery(Duration pause) {
        try {
            while (true) {
                Thread.sleep(pause);
                sweep();
            }
        } catch (InterruptedException e) {
            // It is closed.
        }
    }

    private void sweep() {
        try {
            answers.cutSlowReaders();
            if (host.isAway()) {
                sessions.touch();
                statelessTransport.touch();
            }
            sessions.sweep(LONGEST_CALL);
            statelessTransport.sweep(LONGEST_CALL);
        } catch (RuntimeException e) {
            // The next round comes soon.
            log.atWarn().setCause(e).log("ended MCP sessions could not all be removed");
        }
    }

    /// Ends all conversations.
    @Override
    public void close() {
        sweeper.interrupt();
        statelessTransport.close();
        sessionTransport.close();
    }
}
