package dev.cay.http;

import java.io.IOException;

/// The client went away while its request was read or answered. Nobody's fault, and nobody is left to be told.
public final class ClientGone extends IOException {
    public ClientGone(String message) {
        super(message);
    }

    public ClientGone(String message, Throwable cause) {
        super(message, cause);
    }
}
