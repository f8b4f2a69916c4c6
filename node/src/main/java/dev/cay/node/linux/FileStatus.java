package dev.cay.node.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Instant;

/// The result of `statx`.
///
/// @param mode    type and permission bits together
/// @param changed time of the last change, also of owner or permissions
/// @param major   device number of a device file
public record FileStatus(
        int mode,
        int uid,
        int gid,
        long inode,
        long size,
        Instant accessed,
        Instant changed,
        Instant modified,
        int major,
        int minor) {
    private static final int TYPE = 0xf000;

    static FileStatus read(MemorySegment statx) {
        return new FileStatus(
                Short.toUnsignedInt(statx.get(ValueLayout.JAVA_SHORT, 28)),
                statx.get(ValueLayout.JAVA_INT, 20),
                statx.get(ValueLayout.JAVA_INT, 24),
                statx.get(ValueLayout.JAVA_LONG, 32),
                statx.get(ValueLayout.JAVA_LONG, 40),
                time(statx, 64),
                time(statx, 96),
                time(statx, 112),
                statx.get(ValueLayout.JAVA_INT, 128),
                statx.get(ValueLayout.JAVA_INT, 132));
    }

    private static Instant time(MemorySegment statx, long offset) {
        return Instant.ofEpochSecond(
                statx.get(ValueLayout.JAVA_LONG, offset),
                Integer.toUnsignedLong(statx.get(ValueLayout.JAVA_INT, offset + 8)));
    }

    public boolean regular() {
        return (mode & TYPE) == 0x8000;
    }

    public boolean directory() {
        return (mode & TYPE) == 0x4000;
    }

    public boolean symlink() {
        return (mode & TYPE) == 0xa000;
    }

    public boolean fifo() {
        return (mode & TYPE) == 0x1000;
    }

    /// The controlling end of a pseudo terminal.
    public boolean terminalMaster() {
        return (mode & TYPE) == 0x2000 && major == 5 && minor == 2;
    }

    /// The mark of overlayfs for a name that is deleted from the layers below: character device 0:0.
    public boolean whiteout() {
        return (mode & TYPE) == 0x2000 && major == 0 && minor == 0;
    }

    /// The type bits, as in `S_IFMT`.
    public int type() {
        return mode & TYPE;
    }

    /// Permissions with set-id and sticky bits.
    public int permissions() {
        return mode & 0xfff;
    }
}
