package dev.cay.node.image.oci;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.jspecify.annotations.Nullable;

/// Reads a stream on a thread of its own, a few buffers ahead of the reader, so that decompression and digest of a
/// layer run in parallel with writing its files. The reader gets all bytes before a failure of the stream, then the
/// failure itself.
///
/// One thread reads and closes. The underlying stream is not closed, and nothing else may use it before {@link #close}.
final class ReadAhead extends InputStream {
    private static final int BUFFERS = 4;
    private static final int BUFFER = 256 << 10;

    /// @param failure why the stream ends after these bytes; null if it continues, or has ended normally
    private record Piece(
            byte[] bytes,
            int length,
            boolean last,
            @Nullable Throwable failure) {}

    private final InputStream source;
    private final BlockingQueue<byte[]> empty = new ArrayBlockingQueue<>(BUFFERS);
    private final BlockingQueue<Piece> filled = new ArrayBlockingQueue<>(BUFFERS);
    private final Thread thread;
    private volatile boolean closed;

    private Piece current = new Piece(new byte[0], 0, false, null);
    private int position;

    private ReadAhead(InputStream source) {
        this.source = source;
        for (int i = 0; i < BUFFERS; i++) {
            empty.add(new byte[BUFFER]);
        }
        this.thread = Thread.ofPlatform().daemon().name("cay-read-ahead").unstarted(this::run);
    }

    static ReadAhead start(InputStream source) {
        var ahead = new ReadAhead(source);
        ahead.thread.start();
        return ahead;
    }

    private void run() {
        try {
            boolean more = true;
            while (more) {
                byte[] buffer = empty.take();
                if (closed) {
                    return;
                }
                var piece = fill(buffer);
                filled.put(piece);
                more = !piece.last();
            }
        } catch (InterruptedException _) {
            // Only close() interrupts this thread.
        }
    }

    private Piece fill(byte[] buffer) {
        int length = 0;
        try {
            while (length < buffer.length && !closed) {
                int count = source.read(buffer, length, buffer.length - length);
                if (count < 0) {
                    return new Piece(buffer, length, true, null);
                }
                length += count;
            }
            return new Piece(buffer, length, false, null);
        } catch (Throwable e) { // An error that the reader did not hear of would let it wait for ever.
            return new Piece(buffer, length, true, e);
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        while (position == current.length()) {
            if (current.last()) {
                throwFailure();
                return -1;
            }
            next();
        }
        int count = Math.min(length, current.length() - position);
        System.arraycopy(current.bytes(), position, into, offset, count);
        position += count;
        return count;
    }

    private void next() {
        try {
            if (current.bytes().length > 0) {
                empty.put(current.bytes());
            }
            current = filled.take();
            position = 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "the unpacking of a layer was interrupted", e);
        }
    }

    private void throwFailure() throws IOException {
        switch (current.failure()) {
            case null -> {}
            case IOException e -> throw e;
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable e -> throw new IllegalStateException(e);
        }
    }

    /// Returns when the thread has ended. The thread finishes its current read of the source, so that the caller can
    /// continue to read there; only if the caller is interrupted, that read is cut off.
    @Override
    public void close() {
        closed = true;
        empty.clear();
        filled.clear();
        empty.add(new byte[0]);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                if (interrupted || Thread.currentThread().isInterrupted()) {
                    thread.interrupt();
                }
                thread.join();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
