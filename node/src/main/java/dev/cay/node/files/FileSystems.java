package dev.cay.node.files;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import java.util.Set;

/// Kinds of file systems that need care, by their magic numbers.
public final class FileSystems {
    /// Kernel interfaces, in which nothing is written or made: proc, sysfs, cgroup, cgroup2, debugfs, tracefs,
    /// securityfs, bpf, configfs, efivarfs, pstore, mqueue, devpts, binfmt_misc, selinux.
    private static final Set<Long> LEVERS = Set.of(
            0x9fa0L,
            0x62656572L,
            0x27e0ebL,
            0x63677270L,
            0x64626720L,
            0x74726163L,
            0x73636673L,
            0xcafe4a11L,
            0x62656570L,
            0xde5e81e4L,
            0x6165676cL,
            0x19800202L,
            0x1cd1L,
            0x42494e4dL,
            0xf97cff8cL);

    /// File systems whose files can change without this kernel's knowledge: nfs, smb, cifs, smb2, fuse, coda, afs, 9p,
    /// ceph.
    private static final Set<Long> REMOTE = Set.of(
            0x6969L,
            0x517bL,
            0xff534d42L,
            0xfe534d42L,
            0x65735546L,
            0x73757245L,
            0x5346414fL,
            0x01021997L,
            0x00c36400L);

    private FileSystems() {}

    public static boolean isLever(Descriptor file) throws ErrnoException {
        return LEVERS.contains(FileCalls.fileSystem(file));
    }

    public static boolean isRemote(Descriptor file) throws ErrnoException {
        return REMOTE.contains(FileCalls.fileSystem(file));
    }

    static void requireDisk(Descriptor file) throws ErrnoException {
        if (isLever(file)) {
            throw new ErrnoException("write", Errno.EROFS);
        }
    }
}
