package dev.cay.node.sandbox;

/// Whether somebody waits for a frozen sandbox to go on. No dump of it begins meanwhile, and one that is being made is
/// given up: what it costs to make it again is less than what the client would wait. Thread-safe.
final class Urgency {
    private final Runnable giveUp;
    private int waiting;
    private boolean dumping;

    /// @param giveUp has the dump fail that is being made; short
    Urgency(Runnable giveUp) {
        this.giveUp = giveUp;
    }

    /// A client that waits; closing it says that it waits no more.
    interface Waiting extends AutoCloseable {
        @Override
        void close();
    }

    /// Somebody waits from now on.
    synchronized Waiting begin() {
        waiting++;
        if (dumping) {
            giveUp.run();
        }
        return this::end;
    }

    private synchronized void end() {
        waiting--;
    }

    synchronized boolean isWanted() {
        return waiting > 0;
    }

    /// A dump begins that nobody waits for.
    ///
    /// @return false if it must not, because somebody waits for the sandbox
    synchronized boolean beginDump() {
        if (isWanted()) {
            return false;
        }
        dumping = true;
        return true;
    }

    synchronized void endDump() {
        dumping = false;
    }
}
