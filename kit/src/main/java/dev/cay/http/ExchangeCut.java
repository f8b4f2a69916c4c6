package dev.cay.http;

import java.io.IOException;

/// Thrown to Jetty when Cay cuts an exchange itself. Never logged.
final class ExchangeCut extends IOException implements org.eclipse.jetty.io.QuietException {
    ExchangeCut(String reason) {
        super(reason);
    }
}
