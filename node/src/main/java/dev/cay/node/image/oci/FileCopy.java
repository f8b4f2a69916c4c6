package dev.cay.node.image.oci;

import dev.cay.node.linux.Attributes;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.EntryCalls;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import dev.cay.node.linux.FileStatus;

/// Copies entries from one layer to another with all that they have: content, owner, permissions, attributes, time.
/// FIFOs and devices are made again and never opened.
final class FileCopy {
    private static final int BUFFER = 256 << 10;
    private static final long STRIDE = 1L << 30;

    private FileCopy() {}

    /// @param name must not be taken in `to`, and not be a directory
    static void copy(Descriptor from, String name, Descriptor to, String newName) throws ErrnoException {
        var status = FileCalls.stat(from, name);
        if (status.regular()) {
            content(from, name, to, newName);
        } else if (status.symlink()) {
            EntryCalls.symlink(EntryCalls.readLink(from, name), to, newName);
        } else {
            EntryCalls.makeNode(to, newName, status.mode(), status.major(), status.minor());
        }
        attributes(from, name, to, newName, status);
    }

    /// Everything but content. A directory's opaque mark is not copied.
    static void attributes(Descriptor from, String name, Descriptor to, String newName, FileStatus status)
            throws ErrnoException {
        EntryCalls.setOwner(to, newName, status.uid(), status.gid());
        if (!status.symlink()) {
            EntryCalls.setMode(to, newName, status.permissions());
        }
        for (String attribute : Attributes.names(from, name)) {
            if (!attribute.startsWith("trusted.")) {
                Attributes.write(to, newName, attribute, Attributes.readBytes(from, name, attribute));
            }
        }
        EntryCalls.setModified(to, newName, status.modified());
    }

    private static void content(Descriptor from, String name, Descriptor to, String newName) throws ErrnoException {
        int flags = FileCalls.READ | FileCalls.NONBLOCK;
        try (var source = FileCalls.openEntry(from, name, flags, true);
                var target = FileCalls.create(to, newName, 0600)) {
            long done = 0;
            try {
                for (long n = 1; n > 0; done += n) {
                    n = FileCalls.copyRange(source, done, target, done, STRIDE);
                }
            } catch (ErrnoException e) {
                if (e.errno() != Errno.EXDEV && e.errno() != Errno.EINVAL && e.errno() != Errno.EOPNOTSUPP) {
                    throw e;
                }
                byBuffer(source, target, done);
            }
        }
    }

    /// Copies through a buffer, for file systems between which the kernel cannot copy.
    private static void byBuffer(Descriptor source, Descriptor target, long from) throws ErrnoException {
        byte[] buffer = new byte[BUFFER];
        long at = from;
        for (int count = DescriptorIo.pread(source, buffer, 0, BUFFER, at);
                count > 0;
                count = DescriptorIo.pread(source, buffer, 0, BUFFER, at)) {
            for (int done = 0; done < count; ) {
                done += DescriptorIo.pwrite(target, buffer, done, count - done, at + done);
            }
            at += count;
        }
    }
}
