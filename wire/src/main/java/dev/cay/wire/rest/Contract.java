package dev.cay.wire.rest;

/// Fixed words of the contract with E2B's clients.
public final class Contract {
    /// Means nothing any more, but Python's client wants it in every answer.
    public static final String CLIENT_ID = "6532622b";

    /// Which protocol the system ports speak; clients switch features on by it.
    public static final String ENVD_VERSION = "0.6.13";

    private Contract() {}
}
