package dev.cay.http;

/// Finds the handler for a method and path. Path parts are compared decoded, but split before decoding, so `%2F` is
/// data.
///
/// A known path with another method answers 405 with `Allow`; an unknown one 404. Both as JSON errors.
public final class Routes implements Handler {
    /// `path` like `/sandboxes/{sandboxID}/timeout`; a literal part wins over a parameter.
    public Routes on(String method, String path, Handler handler) {
        throw new UnsupportedOperationException();
    }

    /// Whether some method is served at this raw path.
    public boolean knows(String path) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void handle(Exchange exchange) throws Exception {
        throw new UnsupportedOperationException();
    }
}
