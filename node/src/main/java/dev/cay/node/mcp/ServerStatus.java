package dev.cay.node.mcp;

import java.util.Locale;

/// What a gateway knows of one of its servers: whether it works, why it does not, and how many tools it has.
/// Thread-safe.
final class ServerStatus {
    /// The state of the server.
    enum State {
        STARTING,
        READY,
        FAILED,

        /// A user has to authorize Cay at the server first.
        NEEDS_AUTHORIZATION;

        String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    private State state = State.STARTING;
    private String reason = "";
    private String instructions = "";
    private int tools;
    private int failures;
    private boolean tried;
    private boolean counted;

    synchronized State state() {
        return state;
    }

    /// The reason of the last failure; empty once the server is connected.
    synchronized String reason() {
        return reason;
    }

    /// The server's instructions; empty until it is connected for the first time.
    synchronized String instructions() {
        return instructions;
    }

    synchronized int tools() {
        return tools;
    }

    /// Whether the tools were counted since the last start.
    synchronized boolean isCounted() {
        return counted;
    }

    /// The number of changes to FAILED: a lasting failure counts once.
    synchronized int failures() {
        return failures;
    }

    /// Notes that the server is started, or used by a client.
    ///
    /// @return whether this is the first time
    synchronized boolean tryNow() {
        boolean first = !tried;
        tried = true;
        return first;
    }

    /// Notes that the server is started again from the beginning.
    synchronized void restarts() {
        state = State.STARTING;
        counted = false;
        tried = true;
    }

    synchronized void connected(String itsInstructions) {
        state = State.READY;
        reason = "";
        instructions = itsInstructions;
    }

    synchronized void failed(String why) {
        failures += state == State.FAILED ? 0 : 1;
        state = State.FAILED;
        reason = why;
    }

    synchronized void counted(int count) {
        tools = count;
        tried = true;
        counted = true;
    }
}
