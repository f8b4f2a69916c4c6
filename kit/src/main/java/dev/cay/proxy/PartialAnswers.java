package dev.cay.proxy;

import dev.cay.http.Exchange;
import java.io.IOException;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.jspecify.annotations.Nullable;

/// Ranges of bytes in requests whose answers have values struck out: a client that reads a file in two parts could read
/// a value of which no part has all. So the server is asked for the whole file, and a part that it sends all the same
/// does not pass. Ranges of other units, like rows, cut no value.
final class PartialAnswers {
    /// `Request-Range` and `x-ms-range` mean the same to some servers.
    private static final Set<String> ASKING = Set.of("range", "request-range", "x-ms-range");

    private static final Set<String> WITHHELD = Set.of("range", "request-range", "x-ms-range", "if-range");
    private static final Pattern PART = Pattern.compile("\\s*bytes\\W*\\d.*", Pattern.CASE_INSENSITIVE);

    private PartialAnswers() {}

    /// Leaves the client's ranges of bytes out of the request.
    static void withhold(Exchange exchange) {
        boolean asks = exchange.headers().stream()
                .filter(header -> ASKING.contains(header.getKey().toLowerCase(Locale.ROOT)))
                .anyMatch(header -> String.valueOf(header.getValue())
                        .toLowerCase(Locale.ROOT)
                        .contains("bytes"));
        if (asks) {
            WithheldHeaders.headers(exchange, WITHHELD);
        }
    }

    /// @param scrub strikes values out of this answer; null if there are none
    /// @throws IOException when values are struck out, and the answer is a part of a file
    static void refuse(@Nullable Scrub scrub, int status, HttpFields fields) throws IOException {
        if (scrub != null && isPart(status, fields)) {
            throw new IOException("it sent a part of a file, which does not pass because a secret that the request "
                    + "carries could be cut in two; ask for the whole file");
        }
    }

    private static boolean isPart(int status, HttpFields fields) {
        String type = fields.get(HttpHeader.CONTENT_TYPE);
        boolean several = type != null && type.strip().toLowerCase(Locale.ROOT).startsWith("multipart/byteranges");
        boolean unsaid = status == HttpStatus.PARTIAL_CONTENT_206 && !fields.contains(HttpHeader.CONTENT_RANGE);
        return several
                || unsaid
                || fields.getFields(HttpHeader.CONTENT_RANGE).stream()
                        .map(HttpField::getValue)
                        .anyMatch(value -> value == null || PART.matcher(value).matches());
    }
}
