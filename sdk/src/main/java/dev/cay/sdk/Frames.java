package dev.cay.sdk;

import dev.cay.sdk.SandboxException.Kind;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/// A stream of messages from a sandbox. One thread reads, any thread may close it.
final class Frames implements AutoCloseable {
    static final int HEAD = 5;

    private static final int LAST = 2;
    private static final int LONGEST = 64 << 20;

    private final Http http;
    private final DataInputStream in;
    private final Duration longestSilence;
    private volatile boolean closed;

    Frames(Http http, InputStream in, Duration longestSilence) {
        this.http = http;
        this.in = new DataInputStream(in);
        this.longestSilence = longestSilence;
    }

    /// The next message; empty at the end.
    ///
    /// @throws SandboxException if the stream ended with an error, or without an end
    Optional<JsonNode> next() {
        var alarm = http.alarm(in, longestSilence);
        try (alarm) {
            int flags = in.readUnsignedByte();
            int length = in.readInt();
            if (length < 0 || length > LONGEST) {
                throw new SandboxException(Kind.FAILED, "the sandbox sent a message of %d bytes".formatted(length));
            }
            var message = Http.parse(new String(in.readNBytes(length), StandardCharsets.UTF_8));
            if ((flags & LAST) == 0) {
                return Optional.of(message);
            }
            end(message.path("error"));
            return Optional.empty();
        } catch (EOFException e) {
            throw new SandboxException(Kind.GONE, "the sandbox was gone before the end", e);
        } catch (IOException e) {
            throw broken(e, alarm.rang());
        }
    }

    /// The message that confirms the start. If there is none, closes the stream and throws.
    JsonNode first() {
        try {
            return next().orElseThrow(() -> new SandboxException(Kind.FAILED, "the sandbox said nothing"));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private SandboxException broken(IOException e, boolean silent) {
        if (Thread.currentThread().isInterrupted() || e.getCause() instanceof InterruptedException) {
            Thread.currentThread().interrupt();
            return new SandboxException(Kind.INTERRUPTED, "interrupted while the sandbox was speaking", e);
        }
        if (closed) {
            return new SandboxException(Kind.CONFLICT, "closed by this program", e);
        }
        return silent
                ? new SandboxException(Kind.TIMEOUT, "nothing was heard of the sandbox for " + longestSilence, e)
                : new SandboxException(Kind.GONE, "the connection to the sandbox was lost", e);
    }

    private static void end(JsonNode error) {
        if (error.isObject()) {
            String code = error.path("code").asString("unknown");
            throw new SandboxException(
                    SandboxException.ofCode(code), error.path("message").asString(code));
        }
    }

    @Override
    public void close() {
        closed = true;
        Alarm.closeQuietly(in);
    }
}
