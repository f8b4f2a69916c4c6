package dev.cay.wire;

import org.jspecify.annotations.Nullable;

/// The one exception of Cay: a kind for machines, a message for the user, a cause for us.
public final class CayException extends RuntimeException {
    private final ErrorKind kind;

    public CayException(ErrorKind kind, String message) {
        this(kind, message, null);
    }

    public CayException(ErrorKind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    public ErrorKind kind() {
        return kind;
    }

    /// Never null, unlike the inherited accessor.
    public String userMessage() {
        String message = getMessage();
        return message == null ? kind.name() : message;
    }
}
