package dev.cay.sdk;

import java.io.Serial;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The failure of a call, with its kind.
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

    /// The time after which the server says a retry can succeed.
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }

    /// The kinds of failures.
    public enum Kind {
        /// The call is not valid; the message names what to fix.
        INVALID,
        /// The API key is missing, wrong, or lacks the permission.
        UNAUTHORIZED,
        /// The sandbox, file, process or context does not exist.
        NOT_FOUND,
        /// The call is not possible in the current state.
        CONFLICT,
        /// Too many calls or sandboxes; retry later.
        RATE_LIMITED,
        /// The sandbox's disk is full.
        NO_SPACE,
        /// The sandbox was killed or timed out.
        GONE,
        /// The server has no capacity or does not answer. Nothing was changed; retry later.
        UNAVAILABLE,
        /// The call took longer than its limit.
        TIMEOUT,
        /// The calling thread was interrupted; its interrupt flag is set.
        INTERRUPTED,
        /// The server does not support this.
        UNSUPPORTED,
        /// Any other failure.
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

    /// @param code the error code of the sandbox's RPC
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
