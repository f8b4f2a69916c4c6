package dev.cay.web;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/// Fetches files by URLs that users name. The address of each connection, also of one that a server redirects to, is
/// checked by who makes it. Thread-safe.
public final class WebFiles {
    private static final int MOST_REDIRECTS = 5;
    private static final Duration HEAD = Duration.ofSeconds(30);
    private static final int CHUNK = 64 << 10;
    private static final Map<String, String> HEADERS =
            Map.of("User-Agent", "cay", "Accept", "*/*", "Accept-Encoding", "identity", "Connection", "close");

    /// Most bytes of one file.
    private static final long MOST_BYTES = 2L << 30;

    /// Time limit for one file.
    private static final Duration LIMIT = Duration.ofMinutes(30);

    private final Lines lines;

    /// @param lines connects only to what may be called
    public WebFiles(Lines lines) {
        this.lines = lines;
    }

    /// Downloads the URL into a new file. The file's modification time is the server's `Last-Modified`, or 1970. An
    /// interrupt ends the download at once.
    public void fetch(URI url, Path target) throws IOException {
        // Only on a virtual thread does an interrupt end the wait for a socket.
        var task = new FutureTask<Void>(() -> {
            fetchNow(url, target);
            return null;
        });
        var thread = Thread.ofVirtual().name("web-file").start(task);
        try {
            task.get();
        } catch (InterruptedException e) {
            thread.interrupt();
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case CayException known -> throw known;
                case IOException failed ->
                    throw new CayException(
                            ErrorKind.UNAVAILABLE,
                            "%s cannot be fetched: %s".formatted(url, Dialer.why(failed)),
                            failed);
                case null, default -> throw new IllegalStateException(e);
            }
        }
    }

    private void fetchNow(URI url, Path target) throws IOException {
        long end = System.nanoTime() + LIMIT.toNanos();
        URI at = url;
        for (int hops = 0; hops <= MOST_REDIRECTS; hops++) {
            try (var line = lines.open(UrlOrigin.of(at))) {
                var answer = ask(line, at);
                if (!answer.redirects()) {
                    save(answer, at, target, Duration.ofNanos(end - System.nanoTime()));
                    return;
                }
                at = answer.redirect(at);
            }
        }
        throw new IOException("the server redirects more than %d times".formatted(MOST_REDIRECTS));
    }

    private static WebAnswer ask(WebLine line, URI url) throws IOException {
        try (var deadline = Deadline.start(HEAD, line)) {
            try {
                line.send("GET", UrlOrigin.target(url), HEADERS, null);
                return WebAnswer.read(line);
            } catch (IOException e) {
                throw deadline.passed() ? new SocketTimeoutException("no answer in time") : e;
            }
        }
    }

    private void save(WebAnswer answer, URI url, Path target, Duration left) throws IOException {
        if (answer.status() != 200) {
            throw new CayException(
                    ErrorKind.FAILED, "%s cannot be fetched: the server answers %d".formatted(url, answer.status()));
        }
        try (var deadline = Deadline.start(left.isNegative() ? Duration.ZERO : left, answer.line())) {
            try {
                copy(answer, url, target);
            } catch (IOException e) {
                throw deadline.passed() ? new SocketTimeoutException("not all of it came in time") : e;
            }
        }
        Files.setLastModifiedTime(target, FileTime.from(lastModified(answer)));
    }

    private void copy(WebAnswer answer, URI url, Path target) throws IOException {
        byte[] chunk = new byte[CHUNK];
        long all = 0;
        try (var out = Files.newOutputStream(target)) {
            for (int length = answer.content().read(chunk);
                    length >= 0;
                    length = answer.content().read(chunk)) {
                all += length;
                if (all > MOST_BYTES) {
                    throw new CayException(
                            ErrorKind.INVALID_ARGUMENT,
                            "%s has more than %,d MB, and may not".formatted(url, MOST_BYTES >> 20));
                }
                out.write(chunk, 0, length);
            }
        }
    }

    private static Instant lastModified(WebAnswer answer) {
        try {
            return DateTimeFormatter.RFC_1123_DATE_TIME.parse(answer.header("Last-Modified"), Instant::from);
        } catch (DateTimeException _) {
            return Instant.EPOCH;
        }
    }
}
