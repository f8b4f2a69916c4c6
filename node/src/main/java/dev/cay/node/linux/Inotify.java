package dev.cay.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/// Changes in directories by inotify. Directories are watched by open descriptors, never by their paths: between two
/// uses of a path another directory could be placed there.
public final class Inotify implements AutoCloseable {
    public static final int MODIFY = 0x2;
    public static final int ATTRIB = 0x4;
    public static final int MOVED_FROM = 0x40;
    public static final int MOVED_TO = 0x80;
    public static final int CREATE = 0x100;
    public static final int DELETE = 0x200;
    public static final int DELETE_SELF = 0x400;
    public static final int MOVE_SELF = 0x800;
    public static final int UNMOUNT = 0x2000;
    public static final int OVERFLOW = 0x4000;
    /// The last event of a watch.
    public static final int IGNORED = 0x8000;

    public static final int DIRECTORY = 0x40000000;

    private static final int ONLY_DIRECTORIES = 0x01000000;
    /// Excludes events of unlinked files.
    private static final int NAMED = 0x04000000;

    private static final int ALL = MODIFY
            | ATTRIB
            | MOVED_FROM
            | MOVED_TO
            | CREATE
            | DELETE
            | DELETE_SELF
            | MOVE_SELF
            | ONLY_DIRECTORIES
            | NAMED;

    private static final NativeCall INIT = NativeCall.of("inotify_init1");
    private static final NativeCall ADD = NativeCall.of("inotify_add_watch");
    private static final NativeCall REMOVE = NativeCall.of("inotify_rm_watch");
    private static final int BUFFER = 64 << 10;
    private static final int HEAD = 16;

    /// @param watch  -1 for an overflow, which belongs to no watch
    /// @param cookie the same for both halves of a rename
    /// @param name   of the entry; empty for the directory itself
    public record Event(int watch, int mask, int cookie, String name) {}

    private final Descriptor descriptor;
    private final byte[] buffer = new byte[BUFFER];

    public Inotify() throws ErrnoException {
        descriptor = new Descriptor(INIT.call(FileCalls.CLOEXEC | FileCalls.NONBLOCK));
    }

    /// The descriptor, for polling only.
    public Descriptor descriptor() {
        return descriptor;
    }

    /// The number of the watch, which is the same for the same directory.
    public int add(Descriptor directory) throws ErrnoException {
        int fd = descriptor.use("inotify_add_watch");
        try (var arena = Arena.ofConfined()) {
            int watched = directory.use("inotify_add_watch");
            try {
                return (int) ADD.call(arena, fd, FileCalls.text(arena, "/proc/self/fd/" + watched), ALL);
            } finally {
                directory.done();
            }
        } finally {
            descriptor.done();
        }
    }

    public void remove(int watch) throws ErrnoException {
        int fd = descriptor.use("inotify_rm_watch");
        try {
            REMOVE.call(fd, watch);
        } finally {
            descriptor.done();
        }
    }

    /// The events in order; empty if there are no more. Called by one thread at a time.
    public List<Event> read() throws ErrnoException {
        int length;
        try {
            length = DescriptorIo.read(descriptor, buffer, 0, buffer.length);
        } catch (ErrnoException e) {
            if (e.errno() == Errno.EAGAIN) {
                return List.of();
            }
            throw e;
        }
        var events = new ArrayList<Event>();
        var bytes = MemorySegment.ofArray(buffer);
        for (int at = 0; at + HEAD <= length; ) {
            int size = bytes.get(ValueLayout.JAVA_INT_UNALIGNED, at + 12);
            events.add(new Event(
                    bytes.get(ValueLayout.JAVA_INT_UNALIGNED, at),
                    bytes.get(ValueLayout.JAVA_INT_UNALIGNED, at + 4),
                    bytes.get(ValueLayout.JAVA_INT_UNALIGNED, at + 8),
                    name(at + HEAD, size)));
            at += HEAD + size;
        }
        return events;
    }

    private String name(int from, int size) {
        int end = from;
        while (end < from + size && buffer[end] != 0) {
            end++;
        }
        return FileName.text(java.util.Arrays.copyOfRange(buffer, from, end));
    }

    @Override
    public void close() {
        descriptor.close();
    }
}
