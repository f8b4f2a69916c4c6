package dev.cay.connect;

import dev.cay.http.ClientGone;
import dev.cay.http.ErrorRenderer;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;

/// A failure as Connect's clients read it.
record ConnectError(String code, String message) {
    static final ConnectError DEADLINE = new ConnectError("deadline_exceeded", "context deadline exceeded");

    static ConnectError of(Throwable failure) {
        ErrorKind kind = switch (failure) {
            case CayException known -> known.kind();
            case ClientGone _ -> ErrorKind.CANCELED;
            default -> ErrorKind.INTERNAL;
        };
        return new ConnectError(code(kind), ErrorRenderer.message(failure));
    }

    /// The one place where a kind becomes a code of Connect.
    static String code(ErrorKind kind) {
        return switch (kind) {
            case INVALID_ARGUMENT -> "invalid_argument";
            case UNAUTHENTICATED -> "unauthenticated";
            case PERMISSION_DENIED -> "permission_denied";
            case NOT_FOUND -> "not_found";
            case ALREADY_EXISTS -> "already_exists";
            case CONFLICT, NOT_SAVED, NOT_RESTORED -> "failed_precondition";
            case EXHAUSTED -> "resource_exhausted";
            case UNAVAILABLE -> "unavailable";
            case DEADLINE_EXCEEDED -> "deadline_exceeded";
            case CANCELED -> "canceled";
            case NOT_IMPLEMENTED -> "unimplemented";
            // Clients would read "resource_exhausted" as a rate limit and ask their users to wait.
            case DISK_FULL, FAILED, INTERNAL -> "internal";
            case UNKNOWN -> "unknown";
        };
    }

    /// The status of a unary answer that carries this error.
    int status() {
        return switch (code) {
            case "invalid_argument", "failed_precondition" -> 400;
            case "unauthenticated" -> 401;
            case "permission_denied" -> 403;
            case "not_found" -> 404;
            case "already_exists" -> 409;
            case "resource_exhausted" -> 429;
            case "canceled" -> 499;
            case "unimplemented" -> 501;
            case "unavailable" -> 503;
            case "deadline_exceeded" -> 504;
            default -> 500;
        };
    }
}
