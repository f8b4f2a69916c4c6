package dev.cay.http;

/// The one place where an {@link dev.cay.wire.ErrorKind} becomes a status: REST here, Connect in {@link ConnectRoutes}.
///
/// Anything that is not a `CayException` is our fault: 500 with an id that stands in the log and in the answer.
public final class ErrorRenderer {
    private ErrorRenderer() {}

    /// Answers `{"code": status, "message": text}`; cuts the exchange if its answer has begun.
    public static void render(Exchange exchange, Throwable failure) {
        throw new UnsupportedOperationException();
    }
}
