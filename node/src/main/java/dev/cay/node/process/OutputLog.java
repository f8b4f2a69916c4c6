package dev.cay.node.process;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.FileCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The newest output of one stream: files of equal size, named by the absolute offset of their first byte.
///
/// There is one writer; the end is the end of the newest file, so a killed daemon needs no further record. Readers open
/// a file for each chunk: nothing is held open for them, and a removed file is simply not found.
final class OutputLog implements LogSpace.Owner, AutoCloseable {
    private final LogSpace space;
    private final String prefix;
    private final TreeMap<Long, Path> files = new TreeMap<>();
    private @Nullable Descriptor current;
    private long base;
    private long end;
    private boolean closed;

    /// @param space shared with the process's other streams
    OutputLog(LogSpace space, Channel channel) {
        this.space = space;
        this.prefix = channel.label() + ".";
    }

    /// Logs for the streams of one process, which share a space.
    static Map<Channel, OutputLog> logs(Path directory, long bytes, boolean terminal) {
        return logs(new LogSpace(directory, bytes, terminal ? 1 : 2), terminal);
    }

    /// Opens logs with the content that an earlier daemon wrote. Does file work.
    static Map<Channel, OutputLog> recover(Path directory, long bytes, boolean terminal) throws IOException {
        var space = new LogSpace(directory, bytes, terminal ? 1 : 2);
        var logs = logs(space, terminal);
        recover(space, logs.values());
        return logs;
    }

    private static Map<Channel, OutputLog> logs(LogSpace space, boolean terminal) {
        var logs = new EnumMap<Channel, OutputLog>(Channel.class);
        for (var channel : terminal ? List.of(Channel.PTY) : List.of(Channel.STDOUT, Channel.STDERR)) {
            logs.put(channel, new OutputLog(space, channel));
        }
        return logs;
    }

    /// Finds what an earlier daemon wrote in all logs of a process.
    static void recover(LogSpace space, Collection<OutputLog> logs) throws IOException {
        var found = new TreeMap<FileTime, Map.Entry<Long, OutputLog>>();
        for (var log : logs) {
            log.recover();
            for (var file : log.files.entrySet()) {
                var written = Files.getLastModifiedTime(file.getValue());
                while (found.putIfAbsent(written, Map.entry(file.getKey(), log)) != null) {
                    written = FileTime.from(written.toInstant().plusNanos(1));
                }
            }
        }
        space.recovered(found.values());
    }

    private void recover() throws IOException {
        try (var found = Files.newDirectoryStream(space.directory(), prefix + "*")) {
            for (Path file : found) {
                long from = Long.parseLong(file.getFileName().toString().substring(prefix.length()));
                files.put(from, file);
            }
        }
        if (!files.isEmpty()) {
            base = files.lastKey();
            end = base + Files.size(files.lastEntry().getValue());
            current = FileCalls.open(files.lastEntry().getValue().toString(), FileCalls.READ_WRITE, 0);
        }
    }

    /// How far behind the end a reader can be without losing anything.
    long window() {
        return space.window();
    }

    synchronized long end() {
        return end;
    }

    /// The oldest byte that can still be read.
    synchronized long oldest() {
        return files.isEmpty() ? end : files.firstKey();
    }

    /// How many bytes fit before {@link #rotate} is needed; 0 also before the first byte.
    synchronized int room() {
        return current == null ? 0 : (int) Math.max(0, base + space.segment() - end);
    }

    /// Starts a new file, for which the oldest may be removed. Does file work: do not call this on the poller's thread.
    ///
    /// Does nothing to a log that was closed meanwhile, because nobody would close it again.
    void rotate() throws IOException {
        long from;
        synchronized (this) {
            if (closed) {
                return;
            }
            if (current != null) {
                current.close();
            }
            Path file = space.directory().resolve(prefix + end);
            current = FileCalls.open(file.toString(), FileCalls.READ_WRITE | FileCalls.CREATE, 0600);
            base = end;
            files.put(end, file);
            from = end;
        }
        space.begun(this, from);
    }

    @Override
    public synchronized boolean writesAt(long from) {
        return current != null && base == from;
    }

    @Override
    public synchronized void drop(long from) throws IOException {
        Path file = files.remove(from);
        if (file != null) {
            Files.deleteIfExists(file);
        }
    }

    /// Moves up to `limit` bytes from the pipe; 0 at its end. Readers see them only after {@link #advance}.
    int take(Descriptor pipe, int limit) throws IOException {
        return DescriptorIo.splice(pipe, writer(), end - base, limit);
    }

    /// The latest bytes, which readers do not see yet. They are in the page cache, so this does not block.
    byte[] peek(int count) throws IOException {
        byte[] bytes = new byte[count];
        int got = DescriptorIo.pread(writer(), bytes, 0, count, end - base);
        if (got < count) {
            throw new IOException("log is shorter than it was");
        }
        return bytes;
    }

    void put(byte[] bytes, int length) throws IOException {
        for (int done = 0; done < length; ) {
            done += DescriptorIo.pwrite(writer(), bytes, done, length - done, end - base + done);
        }
    }

    synchronized void advance(int count) {
        end += count;
    }

    private Descriptor writer() throws IOException {
        Descriptor file = current;
        if (file == null) {
            throw new IOException("log is closed");
        }
        return file;
    }

    /// Reads at most `length` bytes that are known to be there. File work: not on a virtual thread.
    byte[] read(long position, int length) throws IOException {
        Path file;
        long start;
        synchronized (this) {
            var entry = files.floorEntry(position);
            if (entry == null) {
                throw new NoSuchFileException("output before byte %d was dropped".formatted(position));
            }
            file = entry.getValue();
            start = entry.getKey();
            Long next = files.higherKey(position);
            length = (int) Math.min(length, (next == null ? end : next) - position);
        }
        byte[] bytes = new byte[length];
        try (var reader = FileCalls.open(file.toString(), FileCalls.READ, 0)) {
            for (int done = 0; done < length; ) {
                int count = DescriptorIo.pread(reader, bytes, done, length - done, position - start + done);
                if (count == 0) {
                    throw new IOException("log %s is shorter than it was".formatted(file));
                }
                done += count;
            }
        }
        return bytes;
    }

    /// Ends writing; the content can still be read.
    @Override
    public synchronized void close() {
        closed = true;
        if (current != null) {
            current.close();
            current = null;
        }
    }
}
