package dev.cay.server.sandbox;

/// Why a sandbox ended, as its last event tells it.
///
/// @param word   one of the contract's words
/// @param detail for people, or empty
record KillReason(String word, String detail) {
    static final KillReason REQUEST = new KillReason("request", "");
    static final KillReason ADMIN = new KillReason("admin", "");
    static final KillReason TIMEOUT = new KillReason("timeout", "");

    /// The sandbox did not exist any more when the server compared its records with the node.
    static final KillReason ORPHANED = new KillReason("orphaned", "the sandbox did not run any more");

    /// The sandbox ended by itself.
    static KillReason unasked(String detail) {
        return new KillReason("unknown", detail);
    }
}
