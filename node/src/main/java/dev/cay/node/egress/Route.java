package dev.cay.node.egress;

/// The route of a sandbox's connection.
enum Route {
    /// Refused.
    REFUSED,

    /// To an address of the name in its first bytes. The node looks the name up.
    NAME,

    /// To the address that the sandbox chose.
    ADDRESS,

    /// As {@link #NAME}, and TLS ends at the node.
    OPENED_NAME,

    /// As {@link #ADDRESS}, and TLS ends at the node.
    OPENED_ADDRESS,

    /// Each of its HTTP requests is judged by itself.
    REQUESTS;

    boolean byName() {
        return this == NAME || this == OPENED_NAME;
    }

    /// Whether the node speaks HTTP with the sandbox.
    boolean readsHttp() {
        return this == OPENED_NAME || this == OPENED_ADDRESS || this == REQUESTS;
    }
}
