package dev.cay.http;

import java.io.IOException;

/// The client disconnected while its request was read or answered. This is not an error of Cay, and no answer can be
/// sent.
public final class ClientGone extends IOException {
    public ClientGone(String message) {
        super(message);
    }

    public ClientGone(String message, Throwable cause) {
        super(message, cause);
    }
}
