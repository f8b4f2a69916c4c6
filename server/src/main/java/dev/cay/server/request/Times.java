package dev.cay.server.request;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;

/// Times in requests.
public final class Times {
    /// Years have four digits (RFC 3339).
    private static final int LATEST_YEAR = 9999;

    private Times() {}

    /// Reads a time like `2026-12-31T10:00:00Z`.
    ///
    /// @throws DateTimeException if the text is none
    public static Instant parse(String text) {
        var time = OffsetDateTime.parse(text);
        if (time.getYear() < 0 || time.getYear() > LATEST_YEAR) {
            throw new DateTimeException("the year must have four digits");
        }
        return time.toInstant();
    }
}
