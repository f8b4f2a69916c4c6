package dev.cay.server.build;

import dev.cay.http.Json;
import dev.cay.life.FairTurns;
import dev.cay.life.RootOnly;
import dev.cay.wire.BuildId;
import dev.cay.wire.TeamId;
import dev.cay.wire.node.BuildLine;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The logs of builds, a file for each, one line of JSON for each line of the log. The number of a line never changes.
final class BuildLogs {
    private static final Logger log = LoggerFactory.getLogger(BuildLogs.class);
    private static final int MOST_LINES = 100_000;
    private static final int MOST_BYTES = 32 << 20;
    private static final int OPEN = 64;

    /// How many bytes of lines are in memory at a time for one reader.
    private static final int PORTION = 64 << 10;

    /// Searches at a time, and how long the others wait.
    private static final int SEARCHES = 2;

    private static final Duration SEARCH_LIMIT = Duration.ofSeconds(20);

    /// Characters of one line; the node cuts what commands print much shorter.
    private static final int LONGEST = 16 << 10;

    /// Where each line begins, and where the next one will.
    private static final class Index {
        private int[] starts = new int[64];
        private int count;
        private int end;

        private void add(int length) {
            if (count == starts.length) {
                starts = Arrays.copyOf(starts, 2 * count);
            }
            starts[count++] = end;
            end += length;
        }

        /// Where lines begin, and where the last one ends.
        private int[] bounds(int from, int to) {
            int[] bounds = Arrays.copyOfRange(starts, from, to + 1);
            bounds[to - from] = end(to - 1);
            return bounds;
        }

        private int end(int line) {
            return line + 1 < count ? starts[line + 1] : end;
        }
    }

    private final Path directory;
    private final FairTurns searches = new FairTurns("The log was not read", SEARCHES, 100, SEARCH_LIMIT);

    /// Indexes of recently used logs.
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
    ///
    /// @return whether it is kept
    synchronized boolean add(BuildId build, BuildLine line) {
        try {
            var index = index(build);
            if (index.count >= MOST_LINES || index.end > MOST_BYTES) {
                return false;
            }
            byte[] bytes = (Json.text(cut(line)) + "\n").getBytes(StandardCharsets.UTF_8);
            RootOnly.directory(directory);
            try (var file = new RandomAccessFile(file(build).toFile(), "rw")) {
                file.seek(index.end);
                file.write(bytes);
            }
            index.add(bytes.length);
            return true;
        } catch (IOException | UncheckedIOException e) {
            log.atWarn().setCause(e).addKeyValue("build", build).log("cannot write a line of a build's log");
            return false;
        }
    }

    private static BuildLine cut(BuildLine line) {
        String message = line.message();
        return message.length() <= LONGEST
                ? line
                : new BuildLine(line.at(), line.level(), line.step(), message.substring(0, LONGEST) + "…");
    }

    /// The lines that a request asks for.
    ///
    /// @param forward whether the oldest lines come first
    /// @param from    how many lines that fit are left out
    /// @param most    how many lines the answer may have
    record Search(boolean forward, int from, int most, Predicate<BuildLine> wanted) {}

    /// Lines that fit, while the build can go on writing. It reads the file in portions until it has as many lines as
    /// the answer may have, and a few searches run at a time: the log of a build may have 32 MiB.
    List<BuildLine> search(TeamId team, BuildId build, Search search) {
        try (var _ = searches.take(team)) {
            var lines = new ArrayList<BuildLine>();
            int skipped = 0;
            int all = count(build);
            int done = 0;
            while (done < all && lines.size() < search.most()) {
                var portion = search.forward() ? portion(build, done) : portionBefore(build, all - done);
                for (int i = 0; i < portion.size() && lines.size() < search.most(); i++) {
                    var line = portion.get(search.forward() ? i : portion.size() - 1 - i);
                    if (search.wanted().test(line) && skipped++ >= search.from()) {
                        lines.add(line);
                    }
                }
                done += portion.size();
                if (portion.isEmpty()) {
                    break;
                }
            }
            return lines;
        }
    }

    /// All lines from a number on, which takes no time however many come before.
    List<BuildLine> read(BuildId build, int from, int most) {
        var lines = new ArrayList<BuildLine>();
        while (lines.size() < most) {
            var portion = portion(build, from + lines.size());
            if (portion.isEmpty()) {
                break;
            }
            lines.addAll(portion.subList(0, Math.min(portion.size(), most - lines.size())));
        }
        return lines;
    }

    private synchronized int count(BuildId build) {
        return index(build).count;
    }

    /// As many lines from a number on as a portion has room for, at least one; none at the end.
    private List<BuildLine> portion(BuildId build, int from) {
        int[] bounds;
        synchronized (this) {
            var index = index(build);
            if (from >= index.count) {
                return List.of();
            }
            int end = from + 1;
            while (end < index.count && index.end(end) - index.starts[from] <= PORTION) {
                end++;
            }
            bounds = index.bounds(from, end);
        }
        return lines(build, bounds);
    }

    /// The same before a number.
    private List<BuildLine> portionBefore(BuildId build, int end) {
        int[] bounds;
        synchronized (this) {
            var index = index(build);
            if (end == 0 || end > index.count) {
                return List.of();
            }
            int from = end - 1;
            while (from > 0 && index.end(end - 1) - index.starts[from - 1] <= PORTION) {
                from--;
            }
            bounds = index.bounds(from, end);
        }
        return lines(build, bounds);
    }

    /// What is written there stays, so it is read without holding up the build.
    private List<BuildLine> lines(BuildId build, int[] bounds) {
        int first = bounds[0];
        byte[] bytes = new byte[bounds[bounds.length - 1] - first];
        try (var file = new RandomAccessFile(file(build).toFile(), "r")) {
            file.seek(first);
            file.readFully(bytes);
        } catch (IOException e) {
            throw unreadable(build, e);
        }
        var lines = new ArrayList<BuildLine>();
        for (int i = 0; i < bounds.length - 1; i++) {
            var line = Arrays.copyOfRange(bytes, bounds[i] - first, bounds[i + 1] - first);
            lines.add(Objects.requireNonNull(Json.read(line, BuildLine.class)));
        }
        return lines;
    }

    private static UncheckedIOException unreadable(BuildId build, IOException e) {
        return new UncheckedIOException("cannot read the log of build " + build, e);
    }

    synchronized void delete(BuildId build) {
        indexes.remove(build);
        try {
            Files.deleteIfExists(file(build));
        } catch (IOException e) {
            log.atWarn().setCause(e).addKeyValue("build", build).log("cannot delete the log of a build");
        }
    }

    /// A line that a crash cut off is written over.
    private Index index(BuildId build) {
        var known = indexes.get(build);
        if (known != null) {
            return known;
        }
        var index = new Index();
        if (Files.exists(file(build))) {
            try (var in = new BufferedInputStream(Files.newInputStream(file(build)), PORTION)) {
                int length = 0;
                for (int next = in.read(); next >= 0; next = in.read()) {
                    length++;
                    if (next == '\n') {
                        index.add(length);
                        length = 0;
                    }
                }
            } catch (IOException e) {
                throw unreadable(build, e);
            }
        }
        indexes.put(build, index);
        return index;
    }

    private Path file(BuildId build) {
        return directory.resolve(build.value() + ".jsonl");
    }
}
