package dev.cay.node.files;

import dev.cay.life.Undo;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/// Puts files together to one, under a name of its own until it is complete, and takes them away.
final class Composition {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    /// Bytes that one turn on a file thread copies.
    private static final long TURN = 32 << 20;

    /// The most where turns are fast: a file system that shares data, or copies a hole, takes the same time for any
    /// number.
    private static final long LONGEST_TURN = 1 << 30;
    private static final Duration FAST = Duration.ofMillis(2);

    private final FileWork work;
    private final FileMaker maker;
    private final Account user;
    private final long end = System.nanoTime() + LIMIT.toNanos();

    Composition(FileWork work, FileMaker maker, Account user) {
        this.work = work;
        this.maker = maker;
        this.user = user;
    }

    void run(List<SandboxPath> sources, SandboxPath destination) throws IOException {
        for (var source : sources) {
            read(source).close();
        }
        String name = ".cay-" + UUID.randomUUID();
        try (var undo = new Undo()) {
            var folder = undo.add(work.run(destination, user, () -> {
                maker.makeParents(destination, user);
                return maker.openDirectory(destination.parent());
            }));
            var whole = undo.add(work.run(destination, user, () -> maker.create(folder, name, user)));
            undo.step(() -> discard(folder, name));
            long size = 0;
            for (var source : sources) {
                try (var file = read(source)) {
                    size = append(source, file, whole, size);
                }
            }
            work.run(destination, user, () -> {
                FileCalls.rename(folder, name, folder, destination.name());
                return null;
            });
        }
        for (var source : sources) {
            work.run(source, Account.ROOT, () -> {
                try (var parent = maker.openDirectory(source.parent())) {
                    FileCalls.removeFile(parent, source.name());
                } catch (ErrnoException e) {
                    if (e.errno() != Errno.ENOENT) {
                        throw e;
                    }
                }
                return null;
            });
        }
    }

    private OpenFile read(SandboxPath path) throws IOException {
        return work.run(path, Account.ROOT, () -> work.openRegular(path.text()));
    }

    private long append(SandboxPath path, OpenFile source, Descriptor whole, long size) throws IOException {
        long at = 0;
        long copied;
        long turn = TURN;
        do {
            long began = System.nanoTime();
            if (began - end > 0) {
                throw new CayException(ErrorKind.FAILED, "the files are too large to be put together in " + LIMIT);
            }
            long from = at;
            long most = turn;
            copied = work.run(path, user, () -> copy(source, from, whole, size + from, most));
            at += copied;
            turn = System.nanoTime() - began < FAST.toNanos() ? Math.min(2 * turn, LONGEST_TURN) : TURN;
        } while (copied > 0);
        return size + at;
    }

    /// Reads and writes where file systems cannot copy by themselves.
    private static long copy(OpenFile source, long from, Descriptor whole, long to, long most) throws ErrnoException {
        try {
            return FileCalls.copyRange(source.descriptor(), from, whole, to, most);
        } catch (ErrnoException e) {
            if (e.errno() != Errno.EXDEV && e.errno() != Errno.EINVAL && e.errno() != Errno.EOPNOTSUPP) {
                throw e;
            }
        }
        byte[] buffer = new byte[OpenFile.CHUNK];
        int count = DescriptorIo.pread(source.descriptor(), buffer, 0, buffer.length, from);
        for (int done = 0; done < count; ) {
            done += DescriptorIo.pwrite(whole, buffer, done, count - done, to + done);
        }
        return count;
    }

    /// Discards the temporary file, unless the composition succeeded and the name is in use.
    private void discard(Descriptor folder, String name) throws IOException {
        work.run(new SandboxPath("/" + name), user, () -> {
            try {
                FileCalls.removeFile(folder, name);
            } catch (ErrnoException e) {
                if (e.errno() != Errno.ENOENT) {
                    throw e;
                }
            }
            return null;
        });
    }
}
