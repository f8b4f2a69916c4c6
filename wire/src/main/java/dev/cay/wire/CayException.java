package dev.cay.wire;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The one exception of Cay: a kind for programs, a message for the user, a cause for the log.
public final class CayException extends RuntimeException {
    private final ErrorKind kind;
    private final @Nullable Duration retryAfter;

    public CayException(ErrorKind kind, String message) {
        this(kind, message, null, null);
    }

    public CayException(ErrorKind kind, String message, @Nullable Throwable cause) {
        this(kind, message, cause, null);
    }

    private CayException(ErrorKind kind, String message, @Nullable Throwable cause, @Nullable Duration retryAfter) {
        super(message, cause);
        this.kind = kind;
        this.retryAfter = retryAfter;
    }

    /// A limit of the caller is reached, and the wait is known.
    public static CayException exhausted(String message, Duration retryAfter) {
        return new CayException(ErrorKind.EXHAUSTED, message, null, retryAfter);
    }

    public ErrorKind kind() {
        return kind;
    }

    /// When the same request may succeed, if that is known.
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }

    /// Never null, unlike the inherited accessor.
    public String userMessage() {
        String message = getMessage();
        return message == null ? kind.name() : message;
    }
}
