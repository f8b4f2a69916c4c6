package dev.cay.web;

import java.io.IOException;

/// Makes connections for HTTP requests.
public interface Lines {
    /// @throws dev.cay.wire.CayException if that must not be called
    WebLine open(UrlOrigin origin) throws IOException;
}
