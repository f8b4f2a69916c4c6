package dev.cay.mcp.protocol.session;

import dev.cay.mcp.protocol.Background;
import dev.cay.mcp.protocol.Refusal;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// All sessions. Clients seldom close them, so idle ones end by themselves, and at the limit the one that was idle for
/// longest makes room.
public final class Sessions implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Sessions.class);
    private static final int ID_BYTES = 24;

    private final SecureRandom random = new SecureRandom();
    private final ConcurrentMap<String, Session> sessions = new ConcurrentHashMap<>();
    private final ReentrantLock opening = new ReentrantLock();
    private final int most;
    private final Duration idle;
    private boolean closed;

    public Sessions(int most, Duration idle) {
        this.most = most;
        this.idle = idle;
    }

    /// Opens a session. Reserves its place before the conversation is opened, so concurrent requests cannot exceed the
    /// limit.
    Session open(String owner) {
        @Nullable Session evicted = null;
        Session session;
        opening.lock();
        try {
            if (closed) {
                throw new Refusal(503, "the server is stopping");
            }
            if (sessions.size() >= most) {
                evicted = longestIdle(owner).orElseThrow(Sessions::full);
                sessions.remove(evicted.id);
            }
            session = new Session(newId(), owner);
            session.enter();
            sessions.put(session.id, session);
        } finally {
            opening.unlock();
        }
        if (evicted != null) {
            endLater(evicted, "made room for another");
        }
        return session;
    }

    private static Refusal full() {
        return new Refusal(503, "there are too many sessions, and all are in use; try again later");
    }

    /// The session to close at the limit, one of the same owner if there is one.
    private Optional<Session> longestIdle(String owner) {
        var byIdleness =
                Comparator.comparing((Session session) -> session.idle().orElse(Duration.ZERO));
        List<Session> unused = sessions.values().stream()
                .filter(session -> session.idle().isPresent())
                .toList();
        return unused.stream()
                .filter(session -> session.owner.equals(owner))
                .max(byIdleness)
                .or(() -> unused.stream().max(byIdleness));
    }

    private String newId() {
        byte[] id = new byte[ID_BYTES];
        random.nextBytes(id);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(id);
    }

    /// The session with this id. A session of another owner counts as missing.
    Session require(String id, String owner) {
        var session = sessions.get(id);
        if (session == null || !session.owner.equals(owner)) {
            throw Session.gone();
        }
        return session;
    }

    void end(Session session, String reason) {
        sessions.remove(session.id);
        session.close();
        log.atDebug().addKeyValue("reason", reason).log("an MCP session ended");
    }

    /// Closes a session on another thread, because its conversation may take a while to end.
    private void endLater(Session session, String reason) {
        Background.run(() -> end(session, reason));
    }

    /// Restarts the idle time of all sessions.
    public void touch() {
        sessions.values().forEach(Session::touch);
    }

    /// Closes idle sessions. Called periodically.
    public void sweep(Duration longestCall) {
        for (var session : sessions.values()) {
            session.endCallsOver(longestCall);
            if (session.idle().filter(time -> time.compareTo(idle) > 0).isPresent()) {
                sessions.remove(session.id);
                endLater(session, "was not used for long");
            }
        }
    }

    public int count() {
        return sessions.size();
    }

    @Override
    public void close() {
        opening.lock();
        try {
            closed = true;
        } finally {
            opening.unlock();
        }
        Background.runAll(sessions.values().stream()
                .<Runnable>map(session -> () -> end(session, "the server stops"))
                .toList());
    }
}
