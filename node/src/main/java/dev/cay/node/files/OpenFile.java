package dev.cay.node.files;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileStatus;
import dev.cay.node.linux.HostThreads;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;

/// A regular file, open for reading. Its size is that of the moment it was opened.
public final class OpenFile implements AutoCloseable {
    /// Bytes that one turn on a file thread reads.
    static final int CHUNK = 256 << 10;

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final String path;
    private final Descriptor descriptor;
    private final FileStatus status;
    private final HostThreads.Share threads;

    /// @param path for error messages
    OpenFile(String path, Descriptor descriptor, FileStatus status, HostThreads.Share threads) {
        this.path = path;
        this.descriptor = descriptor;
        this.status = status;
        this.threads = threads;
    }

    public long size() {
        return status.size();
    }

    public Instant modified() {
        return status.modified();
    }

    Descriptor descriptor() {
        return descriptor;
    }

    FileStatus status() {
        return status;
    }

    /// Reads at most `length` bytes from `position` on. Close the file, not the stream.
    public InputStream stream(long position, long length) {
        return new InputStream() {
            private long at = position;
            private long left = length;

            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] into, int offset, int wanted) throws IOException {
                int most = (int) Math.min(left, Math.min(wanted, CHUNK));
                if (most == 0) {
                    return wanted == 0 ? 0 : -1;
                }
                int count = some(into, offset, most, at);
                at += count;
                left -= count;
                return count == 0 ? -1 : count;
            }
        };
    }

    /// Files of the kernel's own can be opened and still refuse to be read.
    private int some(byte[] into, int offset, int most, long at) throws IOException {
        try {
            return threads.call(LIMIT, () -> DescriptorIo.pread(descriptor, into, offset, most, at));
        } catch (ErrnoException e) {
            throw FileErrors.of(new SandboxPath(path), e);
        }
    }

    /// Reads on a file thread.
    int readFully(byte[] into) throws IOException {
        int done = 0;
        while (done < into.length) {
            int count = DescriptorIo.pread(descriptor, into, done, into.length - done, done);
            if (count == 0) {
                break;
            }
            done += count;
        }
        return done;
    }

    @Override
    public void close() {
        descriptor.close();
    }
}
