package dev.cay.http;

import java.io.IOException;

/// We cut an exchange ourselves; not worth a line in the log.
final class ExchangeCut extends IOException implements org.eclipse.jetty.io.QuietException {
    ExchangeCut(String reason) {
        super(reason);
    }
}
