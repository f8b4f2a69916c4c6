package dev.cay.node.image.oci;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// Downloads a blob into a file. A reader may follow while it grows, and reaches the end only when size and digest of
/// the whole are right. A broken connection is resumed where it broke.
final class BlobDownload {
    private static final int BUFFER = 128 << 10;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

    /// Asks for the bytes of the blob from a position.
    interface Opener {
        HttpAnswer open(long from) throws IOException;
    }

    private final Blob blob;
    private final Path file;
    private final Opener opener;
    private final Duration patience;
    private final LongConsumer progress;
    private final MessageDigest digest = Digest.begin();

    private long written;
    private boolean done;
    private @Nullable Exception failure;

    /// @param progress gets the length of each piece
    BlobDownload(Blob blob, Path file, Opener opener, Duration patience, LongConsumer progress) {
        this.blob = blob;
        this.file = file;
        this.opener = opener;
        this.patience = patience;
        this.progress = progress;
    }

    /// Fetches everything. What goes wrong is thrown at the reader.
    void run() {
        try (var out = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            fetch(out);
            finish(null);
        } catch (InterruptedException e) {
            finish(new CayException(ErrorKind.CANCELED, "the pull was interrupted", e));
        } catch (IOException | RuntimeException e) {
            finish(e);
        }
    }

    private synchronized void finish(@Nullable Exception why) {
        failure = why;
        done = true;
        notifyAll();
    }

    private void fetch(FileChannel out) throws IOException, InterruptedException {
        long lastProgress = System.nanoTime();
        var pause = FIRST_PAUSE;
        while (written < blob.size() || blob.size() == 0) {
            long before = written;
            try (var answer = opener.open(written)) {
                receive(answer, out);
                break;
            } catch (IOException e) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (written > before) {
                    lastProgress = System.nanoTime();
                    pause = FIRST_PAUSE;
                }
                if (System.nanoTime() - lastProgress > patience.toNanos()) {
                    throw new CayException(
                            ErrorKind.UNAVAILABLE,
                            "a layer could not be fetched: %s".formatted(e.getMessage() == null ? e : e.getMessage()),
                            e);
                }
                TimeUnit.NANOSECONDS.sleep(pause.toNanos());
                pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause.multipliedBy(2);
            }
        }
        if (!Digest.finish(digest).equals(blob.digest())) {
            throw BadImage.because(
                    "the registry sent a layer whose bytes do not have the digest %s, which the manifest names"
                            .formatted(blob.digest()));
        }
    }

    private void receive(HttpAnswer answer, FileChannel out) throws IOException {
        long begin = answer.status() == 206 ? written : 0;
        String range = answer.header("Content-Range");
        if (answer.status() == 206 && !range.startsWith("bytes %d-".formatted(written))) {
            throw new IOException("the registry sent another part than it was asked for");
        }
        long length = answer.headers().firstValueAsLong("Content-Length").orElse(-1);
        if (length >= 0 && begin + length != blob.size()) {
            throw wrongSize(begin + length);
        }
        answer.body().skipNBytes(written - begin);
        byte[] buffer = new byte[BUFFER];
        for (int count = answer.body().read(buffer);
                count >= 0;
                count = answer.body().read(buffer)) {
            if (written + count > blob.size()) {
                throw wrongSize(written + count);
            }
            digest.update(buffer, 0, count);
            var bytes = ByteBuffer.wrap(buffer, 0, count);
            while (bytes.hasRemaining()) {
                out.write(bytes);
            }
            progress.accept(count);
            advance(count);
        }
        if (written < blob.size()) {
            throw new IOException("the registry ended a layer too early");
        }
    }

    private synchronized void advance(int count) {
        written += count;
        notifyAll();
    }

    private CayException wrongSize(long found) {
        return BadImage.because("the registry has %,d bytes or more for layer %s, and the manifest says %,d"
                .formatted(found, blob.digest(), blob.size()));
    }

    /// Reads the file while it grows.
    ///
    /// @param limit how long a read waits
    InputStream follow(Duration limit) {
        return new Follower(limit);
    }

    /// How many bytes can be read beyond a position; waits for the first. 0 at the end.
    private synchronized long available(long position, long end) throws IOException {
        try {
            while (written <= position && !done) {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    throw new CayException(ErrorKind.DEADLINE_EXCEEDED, "the pull took too long");
                }
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "the pull was interrupted", e);
        }
        if (done && failure != null) {
            if (failure instanceof CayException known) {
                throw new CayException(known.kind(), known.userMessage(), known);
            }
            throw new IOException("a layer could not be fetched: " + failure.getMessage(), failure);
        }
        return written - position;
    }

    private final class Follower extends InputStream {
        private final long end;
        private @Nullable FileChannel in;
        private long position;

        private Follower(Duration limit) {
            this.end = System.nanoTime() + limit.toNanos();
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            long ready = BlobDownload.this.available(position, end);
            if (ready == 0) {
                return -1;
            }
            var source = in == null ? FileChannel.open(file, StandardOpenOption.READ) : in;
            in = source;
            int count = source.read(ByteBuffer.wrap(into, offset, (int) Math.min(length, ready)), position);
            position += Math.max(0, count);
            return count;
        }

        /// The file has had its use.
        @Override
        public void close() throws IOException {
            if (in != null) {
                in.close();
            }
            Files.deleteIfExists(file);
        }
    }
}
