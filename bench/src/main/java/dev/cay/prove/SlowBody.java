package dev.cay.prove;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;

/// Bytes of which half are read before something happens.
final class SlowBody extends InputStream {
    /// What happens in between.
    interface Event {
        void happen() throws InterruptedException;
    }

    private final ByteArrayInputStream bytes;
    private final int half;
    private final Event event;

    SlowBody(byte[] bytes, Event event) {
        this.bytes = new ByteArrayInputStream(bytes);
        this.half = bytes.length / 2;
        this.event = event;
    }

    @Override
    public int read() throws IOException {
        return bytes.read();
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        boolean before = bytes.available() > half;
        int count = bytes.read(into, offset, length);
        if (before && bytes.available() <= half) {
            try {
                // What was read so far is on its way.
                Thread.sleep(300);
                event.happen();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            }
        }
        return count;
    }
}
