package dev.cay.node.snapshot;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/// Encrypts one stream, with a key that exists only in this object.
///
/// Every chunk is authenticated with its position and with whether it is the last, so a changed, moved or truncated
/// chunk is refused, and no byte is returned before its chunk was verified.
final class ChunkCipher {
    static final int CHUNK = 1 << 20;
    static final int TAG = 16;
    private static final int KEY = 32;
    private static final int NONCE = 12;
    private static final byte[] PURPOSE = {'c', 'a', 'y', '-', 'i', 'm', 'a', 'g', 'e', 's', 1};

    private final SecretKeySpec key;
    private final AtomicBoolean used = new AtomicBoolean();

    ChunkCipher(SecureRandom random) {
        byte[] bytes = new byte[KEY];
        random.nextBytes(bytes);
        this.key = new SecretKeySpec(bytes, "AES");
    }

    /// The stream that is to be sealed; complete when it was closed. Once only: a position must never be used twice
    /// with the same key.
    OutputStream seal(OutputStream to) {
        if (!used.compareAndSet(false, true)) {
            throw new IllegalStateException("a key is for one stream");
        }
        return new Sealing(to);
    }

    /// Decrypts a stream. Fails with {@link IOException} if it was changed.
    InputStream open(InputStream from) throws IOException {
        return new Opening(from);
    }

    private byte[] apply(int mode, long position, boolean last, byte[] bytes, int length) throws IOException {
        try {
            var cipher = Cipher.getInstance("AES/GCM/NoPadding");
            byte[] nonce = ByteBuffer.allocate(NONCE).putLong(position).array();
            cipher.init(mode, key, new GCMParameterSpec(TAG * Byte.SIZE, nonce));
            cipher.updateAAD(PURPOSE);
            cipher.updateAAD(new byte[] {(byte) (last ? 1 : 0)});
            return cipher.doFinal(bytes, 0, length);
        } catch (GeneralSecurityException e) {
            throw new IOException("what was sealed is not as it was", e);
        }
    }

    /// Keeps a chunk back until it is known whether it is the last.
    private final class Sealing extends OutputStream {
        private final OutputStream to;
        private final byte[] chunk = new byte[CHUNK];
        private int length;
        private long position;
        private boolean closed;

        private Sealing(OutputStream to) {
            this.to = to;
        }

        @Override
        public void write(int one) throws IOException {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int count) throws IOException {
            int from = offset;
            for (int left = count; left > 0; ) {
                if (length == CHUNK) {
                    flush(false);
                }
                int some = Math.min(left, CHUNK - length);
                System.arraycopy(bytes, from, chunk, length, some);
                length += some;
                from += some;
                left -= some;
            }
        }

        private void flush(boolean last) throws IOException {
            to.write(apply(Cipher.ENCRYPT_MODE, position++, last, chunk, length));
            length = 0;
        }

        @Override
        public void close() throws IOException {
            if (!closed) {
                closed = true;
                try (to) {
                    flush(true);
                }
            }
        }
    }

    /// Reads a chunk ahead: only the last has nothing behind it.
    private final class Opening extends InputStream {
        private final InputStream from;
        private byte[] next;
        private InputStream plain = new ByteArrayInputStream(new byte[0]);
        private long position;
        private boolean done;

        private Opening(InputStream from) throws IOException {
            this.from = from;
            this.next = from.readNBytes(CHUNK + TAG);
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int offset, int count) throws IOException {
            if (count == 0) {
                return 0;
            }
            int read = plain.read(bytes, offset, count);
            while (read < 0 && !done) {
                byte[] now = next;
                next = from.readNBytes(CHUNK + TAG);
                boolean last = next.length == 0;
                plain = new ByteArrayInputStream(apply(Cipher.DECRYPT_MODE, position++, last, now, now.length));
                done = last;
                read = plain.read(bytes, offset, count);
            }
            return read;
        }

        @Override
        public void close() throws IOException {
            from.close();
        }
    }
}
