package dev.cay.http;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.LinkedHashMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The one place where an {@link ErrorKind} becomes an HTTP status for REST; `ConnectError` does it for Connect.
///
/// Any failure that is not a `CayException` is a bug of Cay: 500 with an id that is in the log and in the answer.
public final class ErrorRenderer {
    private static final Logger log = LoggerFactory.getLogger(ErrorRenderer.class);

    private ErrorRenderer() {}

    /// Answers `{"code": status, "message": text}`; cuts the exchange if its answer has begun.
    public static void render(Exchange exchange, Throwable failure) {
        if (exchange.over()) {
            // An exception after the exchange was cut is a consequence of the cut.
            return;
        }
        String message = message(failure);
        if (exchange.committed() || exchange.answer().begun()) {
            exchange.abort(message);
            return;
        }
        String code = null;
        int status = status(failure);
        exchange.retryLater(status);
        if (failure instanceof CayException known) {
            code = code(known.kind());
            known.retryAfter().ifPresent(exchange::retryAfter);
        }
        send(exchange, status, message, code);
    }

    /// A code for programs, where the status alone is too general.
    private static @Nullable String code(ErrorKind kind) {
        return switch (kind) {
            case NOT_SAVED -> "sandbox_memory_not_saved";
            case NOT_RESTORED -> "sandbox_memory_not_restored";
            default -> null;
        };
    }

    /// The HTTP status of a kind.
    public static int status(ErrorKind kind) {
        return switch (kind) {
            case INVALID_ARGUMENT -> 400;
            case UNAUTHENTICATED -> 401;
            case PERMISSION_DENIED -> 403;
            case NOT_FOUND -> 404;
            case ALREADY_EXISTS, CONFLICT -> 409;
            case EXHAUSTED -> 429;
            case UNAVAILABLE -> 503;
            case DISK_FULL -> 507;
            case DEADLINE_EXCEEDED -> 504;
            case CANCELED -> 499;
            case NOT_IMPLEMENTED -> 501;
            case NOT_SAVED, NOT_RESTORED -> 422;
            case FAILED, UNKNOWN, INTERNAL -> 500;
        };
    }

    /// Answers with a status that has no kind, such as 405.
    static void send(Exchange exchange, int status, String message) {
        send(exchange.retryLater(status), status, message, null);
    }

    private static void send(Exchange exchange, int status, String message, @Nullable String code) {
        var body = new LinkedHashMap<String, Object>();
        body.put("code", status);
        body.put("message", message);
        if (code != null) {
            body.put("error_code", code);
        }
        exchange.send(status, "application/json; charset=utf-8", Json.write(body));
    }

    /// The message that the user may read. Logs the failure if it is a bug of Cay.
    public static String message(Throwable failure) {
        if (failure instanceof BrokenUpstream || failure instanceof ClientGone) {
            return String.valueOf(failure.getMessage());
        }
        if (failure instanceof CayException known && known.kind() != ErrorKind.INTERNAL) {
            return known.userMessage();
        }
        String id = UUID.randomUUID().toString();
        log.atError().setCause(failure).addKeyValue("error", id).log("request failed");
        String what = failure instanceof CayException known ? known.userMessage() : "internal error";
        return what + " (error id " + id + ")";
    }

    /// The HTTP status of a failure.
    public static int status(Throwable failure) {
        if (failure instanceof BrokenUpstream) {
            return 502;
        }
        if (failure instanceof ClientGone) {
            return status(ErrorKind.CANCELED);
        }
        return failure instanceof CayException known ? status(known.kind()) : 500;
    }
}
