package dev.cay.http;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// The server inside the sandbox took the connection, and then gave no answer that could be passed on.
public final class BrokenUpstream extends IOException {
    public BrokenUpstream(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
