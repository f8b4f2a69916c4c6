package dev.cay.wire.rest;

/// Fixed values of the protocol of E2B's clients.
public final class Contract {
    /// Has no meaning any more, but Python's client requires it in every answer.
    public static final String CLIENT_ID = "6532622b";

    /// The version of envd's protocol; clients enable features by it.
    public static final String ENVD_VERSION = "0.6.13";

    private Contract() {}
}
