package dev.cay.node.image.oci;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/// An answer of a registry. Its body fails when no bytes come for a time; a reader that is slow itself does not
/// count.
///
/// @param from where it came from, after redirects
record HttpAnswer(int status, HttpHeaders headers, URI from, InputStream body) implements AutoCloseable {
    String header(String name) {
        return headers.firstValue(name).orElse("");
    }

    /// The whole body if it is not longer than allowed.
    byte[] read(int most, String what) throws IOException {
        byte[] bytes = body.readNBytes(most + 1);
        if (bytes.length > most) {
            throw BadImage.because("the registry sent %s of more than %,d bytes".formatted(what, most));
        }
        return bytes;
    }

    @Override
    public void close() throws IOException {
        body.close();
    }

    /// Closes a body from another thread when its reader has waited too long.
    static final class Watched extends FilterInputStream {
        private final Duration idle;
        private final ScheduledFuture<?> watch;
        private volatile long waitingSince;
        private volatile boolean waiting;
        private volatile boolean late;

        Watched(InputStream in, Duration idle, ScheduledExecutorService watcher) {
            super(in);
            this.idle = idle;
            long every = Math.max(50, idle.toMillis() / 4);
            this.watch = watcher.scheduleAtFixedRate(this::look, every, every, TimeUnit.MILLISECONDS);
        }

        private void look() {
            if (waiting && System.nanoTime() - waitingSince > idle.toNanos()) {
                late = true;
                try {
                    in.close();
                } catch (IOException _) {
                    // The reader hears of it.
                }
            }
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            waitingSince = System.nanoTime();
            waiting = true;
            try {
                int count = super.read(into, offset, length);
                if (late) {
                    throw new SocketTimeoutException("the registry sent nothing for " + idle.toSeconds() + " s");
                }
                return count;
            } catch (IOException e) {
                if (late && !(e instanceof SocketTimeoutException)) {
                    throw new SocketTimeoutException("the registry sent nothing for " + idle.toSeconds() + " s");
                }
                throw e;
            } finally {
                waiting = false;
            }
        }

        @Override
        public void close() throws IOException {
            watch.cancel(false);
            super.close();
        }
    }
}
