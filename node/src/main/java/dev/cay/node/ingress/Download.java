package dev.cay.node.ingress;

import dev.cay.http.Exchange;
import dev.cay.node.files.OpenFile;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/// Answers with a file: whole, in part, compressed, or not at all when the client has it already.
///
/// @param memory how many bytes of it may be held at once
record Download(Exchange exchange, OpenFile file, String name, int memory) {
    private static final Pattern RANGE = Pattern.compile("bytes=([0-9]{0,18})-([0-9]{0,18})");
    private static final DateTimeFormatter HTTP_DATE = DateTimeFormatter.ofPattern(
                    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    /// Headers whose values count the file's own bytes.
    private static final List<String> PLAIN_ONLY =
            List.of("Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since");

    private record Slice(long from, long length) {}

    void send() throws IOException {
        exchange.with("Vary", "Accept-Encoding");
        var accepted = AcceptEncoding.of(exchange.header("Accept-Encoding"));
        boolean asIs = PLAIN_ONLY.stream().anyMatch(name -> exchange.header(name) != null);
        if (accepted.best() == null || (asIs && !accepted.identity())) {
            exchange.sendJson(406, Map.of("code", 406, "message", "no acceptable encoding"));
            return;
        }
        exchange.with("Last-Modified", HTTP_DATE.format(file.modified()))
                .with("Content-Disposition", disposition(name))
                .with("Content-Type", contentType());
        if (!asIs && accepted.best() == AcceptEncoding.Coding.GZIP && file.size() > 0) {
            sendCompressed();
            return;
        }
        exchange.with("Accept-Ranges", "bytes");
        switch (condition()) {
            case 0 -> sendPlain();
            case 304 -> exchange.send(304);
            default -> exchange.send(412);
        }
    }

    private void sendPlain() throws IOException {
        if (exchange.header("Range") != null && rangeStillHolds()) {
            sendPart();
        } else if (file.size() <= memory && !exchange.method().equals("HEAD")) {
            sendSmall();
        } else {
            copy(200, new Slice(0, file.size()));
        }
    }

    /// Sends a small file at once, without a length that could turn out wrong, because the file may be being written.
    private void sendSmall() throws IOException {
        byte[] bytes = file.stream(0, file.size()).readAllBytes();
        try (var out = exchange.stream(200, bytes.length)) {
            out.write(bytes);
        }
    }

    /// The result of the client's conditions: 0 to send, or the status. Files have no ETags, so only `*` matches.
    private int condition() {
        String match = exchange.header("If-Match");
        Instant modified = file.modified().truncatedTo(ChronoUnit.SECONDS);
        if (match != null) {
            if (!match.strip().equals("*")) {
                return 412;
            }
        } else {
            Instant until = date(exchange.header("If-Unmodified-Since"));
            if (until != null && modified.isAfter(until)) {
                return 412;
            }
        }
        String noneMatch = exchange.header("If-None-Match");
        if (noneMatch != null) {
            return noneMatch.strip().equals("*") ? 304 : 0;
        }
        Instant since = date(exchange.header("If-Modified-Since"));
        return since != null && !modified.isAfter(since) ? 304 : 0;
    }

    private boolean rangeStillHolds() {
        String condition = exchange.header("If-Range");
        return condition == null
                || file.modified().truncatedTo(ChronoUnit.SECONDS).equals(date(condition));
    }

    /// Sends compressed, without a length: a file that becomes shorter meanwhile is sent as far as it goes.
    private void sendCompressed() throws IOException {
        exchange.with("Content-Encoding", "gzip");
        if (exchange.method().equals("HEAD")) {
            exchange.stream(200).close();
            return;
        }
        try (var out = new GZIPOutputStream(exchange.stream(200), 16 << 10)) {
            transfer(new Slice(0, file.size()), out);
        }
    }

    private void sendPart() throws IOException {
        var match = RANGE.matcher(String.valueOf(exchange.header("Range")).strip());
        // Several ranges at once need not be served; all of it is a right answer, too.
        if (!match.matches() || (match.group(1).isEmpty() && match.group(2).isEmpty())) {
            copy(200, new Slice(0, file.size()));
            return;
        }
        Slice slice = slice(match.group(1), match.group(2), file.size());
        if (slice == null) {
            exchange.with("Content-Range", "bytes */" + file.size()).send(416);
            return;
        }
        exchange.with(
                "Content-Range", "bytes %d-%d/%d".formatted(slice.from, slice.from + slice.length - 1, file.size()));
        copy(206, slice);
    }

    private static @Nullable Slice slice(String first, String last, long size) {
        if (first.isEmpty()) {
            long length = Math.min(Long.parseLong(last), size);
            return length == 0 ? null : new Slice(size - length, length);
        }
        long from = Long.parseLong(first);
        long to = last.isEmpty() ? size - 1 : Math.min(Long.parseLong(last), size - 1);
        return from > to ? null : new Slice(from, to - from + 1);
    }

    private void copy(int status, Slice slice) throws IOException {
        try (var out = exchange.stream(status, slice.length)) {
            if (!exchange.method().equals("HEAD") && transfer(slice, out) < slice.length) {
                // Promised more than there is now: only a cut connection tells the client so.
                exchange.abort("the file became shorter while it was read");
            }
        }
    }

    /// Returns how many bytes there were.
    private long transfer(Slice slice, OutputStream out) throws IOException {
        var in = file.stream(slice.from, slice.length);
        byte[] buffer = new byte[Math.clamp(slice.length, 1, memory)];
        long left = slice.length;
        for (int count; left > 0 && (count = in.read(buffer)) > 0; left -= count) {
            out.write(buffer, 0, count);
        }
        return slice.length - left;
    }

    private static @Nullable Instant date(@Nullable String header) {
        if (header == null) {
            return null;
        }
        try {
            return ZonedDateTime.parse(header, HTTP_DATE).toInstant();
        } catch (DateTimeParseException e) {
            return null;
        }
    }

    private static String disposition(String name) {
        if (name.matches("[A-Za-z0-9!#$&+.^_`|~-]+")) {
            return "inline; filename=" + name;
        }
        if (name.matches("[\\x20-\\x7e]+")) {
            return "inline; filename=\"" + name.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
        }
        return "inline; filename*=utf-8''"
                + URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private String contentType() throws IOException {
        String type = ContentType.ofName(name);
        if (!type.isEmpty()) {
            return type;
        }
        return ContentType.ofBytes(file.stream(0, ContentType.SAMPLE).readNBytes(ContentType.SAMPLE));
    }
}
