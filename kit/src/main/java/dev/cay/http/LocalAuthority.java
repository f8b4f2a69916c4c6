package dev.cay.http;

import java.nio.file.Path;
import javax.net.ssl.SSLContext;

/// A certificate authority of this machine's own, made at first start, and the wildcard certificate it signed.
///
/// Lies in one directory: `ca.pem` (readable by all), `ca.key` and `server.p12` (0600), `bundle.pem` (the system's
/// roots plus our CA, as some clients read only one file). A certificate near its end is signed anew by the same CA.
public final class LocalAuthority {
    private LocalAuthority() {}

    /// Reads the directory or fills it. `domain` without a port; the certificate covers it, `*.domain`, `localhost` and
    /// loopback.
    public static LocalAuthority open(Path directory, String domain) {
        throw new UnsupportedOperationException();
    }

    public SSLContext tls() {
        throw new UnsupportedOperationException();
    }

    public Path caCertificate() {
        throw new UnsupportedOperationException();
    }

    public Path bundle() {
        throw new UnsupportedOperationException();
    }
}
