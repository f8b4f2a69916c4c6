package dev.cay.node.egress;

import dev.cay.wire.SandboxId;
import java.net.InetAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/// A sandbox on the path: its rules, and its open connections.
final class PathSandbox {
    /// A connection that it has open.
    interface Open {
        /// Judges again by other rules, and cuts the connection if they do not allow it.
        void review(EgressRules changed);

        void cut();
    }

    /// Enough for a busy program, and a limit for the cost of a hostile one.
    private static final int CONNECTIONS = 1024;

    private final SandboxId id;
    private final InetAddress source;
    private final KnownLogs.Held log;
    private final Set<Open> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger requests = new AtomicInteger();
    private volatile EgressRules rules;
    private volatile boolean removed;

    PathSandbox(SandboxId id, InetAddress source, EgressRules rules, KnownLogs.Held log) {
        this.id = id;
        this.source = source;
        this.rules = rules;
        this.log = log;
    }

    SandboxId id() {
        return id;
    }

    InetAddress source() {
        return source;
    }

    EgressRules rules() {
        return rules;
    }

    EgressLog log() {
        return log.log();
    }

    /// Its log, to be given back.
    KnownLogs.Held held() {
        return log;
    }

    /// Whose share of the path its connections take.
    String team() {
        return log().team();
    }

    /// Whether there is room for the connection. Added before it is counted: of two concurrent ones the later sees
    /// both.
    boolean admit(Open connection) {
        open.add(connection);
        if (open.size() > CONNECTIONS || removed) {
            open.remove(connection);
            return false;
        }
        return true;
    }

    /// Whether one more HTTP request may be under way: many fit on one connection.
    boolean beginRequest() {
        if (requests.incrementAndGet() > CONNECTIONS) {
            requests.decrementAndGet();
            return false;
        }
        return true;
    }

    void endRequest() {
        requests.decrementAndGet();
    }

    void leave(Open connection) {
        open.remove(connection);
    }

    /// Replaces the rules; open connections that they do not allow are cut.
    void become(EgressRules changed) {
        rules = changed;
        open.forEach(connection -> connection.review(changed));
    }

    /// Cuts all.
    void remove() {
        removed = true;
        open.forEach(Open::cut);
    }
}
