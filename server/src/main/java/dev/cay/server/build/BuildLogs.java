package dev.cay.server.build;

import dev.cay.http.Json;
import dev.cay.life.RootOnly;
import dev.cay.wire.BuildId;
import dev.cay.wire.node.BuildLine;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What builds have said, in a file each, one line of JSON for each of theirs. A line keeps its number for good.
final class BuildLogs {
    private static final Logger log = LoggerFactory.getLogger(BuildLogs.class);
    private static final int MOST_LINES = 100_000;
    private static final int MOST_BYTES = 32 << 20;
    private static final int OPEN = 64;

    /// Where each line begins, and where the next one will.
    private static final class Index {
        private final List<Long> starts = new ArrayList<>();
        private long end;
    }

    private final Path directory;

    /// Of logs that were used of late.
    private final Map<BuildId, Index> indexes = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<BuildId, Index> eldest) {
            return size() > OPEN;
        }
    };

    BuildLogs(Path directory) {
        this.directory = directory;
    }

    /// Adds a line. One that cannot be kept is no reason to stop a build.
    synchronized void add(BuildId build, BuildLine line) {
        try {
            var index = index(build);
            if (index.starts.size() >= MOST_LINES || index.end > MOST_BYTES) {
                return;
            }
            byte[] bytes = (Json.text(line) + "\n").getBytes(StandardCharsets.UTF_8);
            RootOnly.directory(directory);
            try (var file = new RandomAccessFile(file(build).toFile(), "rw")) {
                file.seek(index.end);
                file.write(bytes);
            }
            index.starts.add(index.end);
            index.end += bytes.length;
        } catch (IOException e) {
            log.atWarn().setCause(e).addKeyValue("build", build).log("a line of a build's log is lost");
        }
    }

    /// Lines that somebody wants to see, by their number among these.
    List<BuildLine> read(BuildId build, int from, int most, Predicate<BuildLine> wanted) {
        return scan(build, true, from, most, wanted);
    }

    /// Lines that somebody wants to see, oldest or newest first. Reads the file once, at most all of it, while the
    /// build can go on writing.
    List<BuildLine> scan(BuildId build, boolean forward, int from, int most, Predicate<BuildLine> wanted) {
        var lines = new ArrayList<BuildLine>();
        try {
            var starts = starts(build);
            byte[] all = starts.size() < 2 ? new byte[0] : content(build, starts.getLast());
            int skipped = 0;
            for (int i = 0; i < starts.size() - 1 && lines.size() < most; i++) {
                int number = forward ? i : starts.size() - 2 - i;
                int start = Math.toIntExact(starts.get(number));
                var bytes = Arrays.copyOfRange(all, start, Math.toIntExact(starts.get(number + 1)));
                var line = Objects.requireNonNull(Json.read(bytes, BuildLine.class));
                if (wanted.test(line) && skipped++ >= from) {
                    lines.add(line);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the log of build " + build, e);
        }
        return lines;
    }

    /// Where each line begins, and where the last one ends.
    private synchronized List<Long> starts(BuildId build) throws IOException {
        var index = index(build);
        var starts = new ArrayList<>(index.starts);
        starts.add(index.end);
        return starts;
    }

    /// What is written there stays.
    private byte[] content(BuildId build, long end) throws IOException {
        try (var in = Files.newInputStream(file(build))) {
            return in.readNBytes(Math.toIntExact(end));
        }
    }

    /// All lines from a number on, which takes no time however many come before.
    synchronized List<BuildLine> read(BuildId build, int from, int most) {
        var lines = new ArrayList<BuildLine>();
        try {
            var index = index(build);
            for (int i = Math.max(0, from); i < index.starts.size() && lines.size() < most; i++) {
                lines.add(line(build, index, i));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the log of build " + build, e);
        }
        return lines;
    }

    synchronized void delete(BuildId build) {
        indexes.remove(build);
        try {
            Files.deleteIfExists(file(build));
        } catch (IOException e) {
            log.atWarn().setCause(e).addKeyValue("build", build).log("a build's log stays");
        }
    }

    private BuildLine line(BuildId build, Index index, int number) throws IOException {
        long start = index.starts.get(number);
        long end = number + 1 < index.starts.size() ? index.starts.get(number + 1) : index.end;
        byte[] bytes = new byte[(int) (end - start)];
        try (var file = new RandomAccessFile(file(build).toFile(), "r")) {
            file.seek(start);
            file.readFully(bytes);
        }
        return Objects.requireNonNull(Json.read(bytes, BuildLine.class));
    }

    /// A line that a crash cut off is written over.
    private Index index(BuildId build) throws IOException {
        var known = indexes.get(build);
        if (known != null) {
            return known;
        }
        var index = new Index();
        if (Files.exists(file(build))) {
            byte[] all = Files.readAllBytes(file(build));
            for (int i = 0; i < all.length; i++) {
                if (all[i] == '\n') {
                    index.starts.add(index.end);
                    index.end = i + 1L;
                }
            }
        }
        indexes.put(build, index);
        return index;
    }

    private Path file(BuildId build) {
        return directory.resolve(build.value() + ".jsonl");
    }
}
