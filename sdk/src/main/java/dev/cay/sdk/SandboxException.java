package dev.cay.sdk;

import java.io.Serial;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// What went wrong, and of which kind it is.
public final class SandboxException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final Kind kind;
    private final @Nullable Duration retryAfter;

    SandboxException(Kind kind, String message) {
        this(kind, message, (Throwable) null);
    }

    SandboxException(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
        this.retryAfter = null;
    }

    SandboxException(Kind kind, String message, @Nullable Duration retryAfter) {
        super(message);
        this.kind = kind;
        this.retryAfter = retryAfter;
    }

    public Kind kind() {
        return kind;
    }

    /// When the server says another try makes sense.
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }

    /// What a program may want to tell apart.
    public enum Kind {
        /// The call itself makes no sense; the message names what to fix.
        INVALID,
        /// No key, a wrong one, or one that may not do this.
        UNAUTHORIZED,
        /// No such sandbox, file, process or context.
        NOT_FOUND,
        /// Not possible in the state it is in.
        CONFLICT,
        /// Too many calls or sandboxes; later it may work.
        RATE_LIMITED,
        /// No space left on the sandbox's disk.
        NO_SPACE,
        /// The sandbox is gone: it was killed, or its time was up.
        GONE,
        /// The server has no room or does not answer; nothing was changed, later it may work.
        UNAVAILABLE,
        /// It took longer than allowed.
        TIMEOUT,
        /// The calling thread was interrupted; its interrupt flag is set.
        INTERRUPTED,
        /// The server does not do this.
        UNSUPPORTED,
        /// Anything else.
        FAILED
    }

    static Kind ofStatus(int status) {
        return switch (status) {
            case 400, 413, 416, 422 -> Kind.INVALID;
            case 401, 403 -> Kind.UNAUTHORIZED;
            case 404, 410 -> Kind.NOT_FOUND;
            case 409 -> Kind.CONFLICT;
            case 429 -> Kind.RATE_LIMITED;
            case 501 -> Kind.UNSUPPORTED;
            case 502 -> Kind.GONE;
            case 503 -> Kind.UNAVAILABLE;
            case 408, 499, 504 -> Kind.TIMEOUT;
            case 507 -> Kind.NO_SPACE;
            default -> Kind.FAILED;
        };
    }

    /// @param code as the sandbox's RPC names it
    static Kind ofCode(String code) {
        return switch (code) {
            case "invalid_argument", "failed_precondition", "out_of_range" -> Kind.INVALID;
            case "unauthenticated", "permission_denied" -> Kind.UNAUTHORIZED;
            case "not_found" -> Kind.NOT_FOUND;
            case "already_exists", "aborted", "conflict" -> Kind.CONFLICT;
            case "disk_full" -> Kind.NO_SPACE;
            case "resource_exhausted", "exhausted" -> Kind.RATE_LIMITED;
            case "unavailable" -> Kind.GONE;
            case "deadline_exceeded", "canceled" -> Kind.TIMEOUT;
            case "unimplemented" -> Kind.UNSUPPORTED;
            default -> Kind.FAILED;
        };
    }
}
