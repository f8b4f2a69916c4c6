package dev.cay.node.image;

import dev.cay.life.RootOnly;
import dev.cay.life.WholeFile;
import dev.cay.node.host.HostLock;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/// The layers that one instance needs, on record for all instances that share the cache directory. Thread-safe.
///
/// The record is the file `claims/NAME` of the cache directory: its first line is the state directory of the instance,
/// each other line the key of a layer. The name is a hash of the state directory. An instance that removes layers holds
/// the lock `claims/.lock` and spares each layer that some file names. A key is added under the same lock, together
/// with a check that the layer still exists. So a layer is either claimed first and stays, or is removed first and its
/// user gets an error.
///
/// An added key is also in memory. Claiming it again costs no access to the file.
final class Claims {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Duration TOUCH_EVERY = Duration.ofHours(1);
    private static final String LOCK = ".lock";

    /// @param at      when it was claimed last, by {@link System#nanoTime}
    /// @param touched when the time of its last use was last written to the disk
    private record Held(long at, long touched) {}

    private final Path directory;
    private final String stateDir;
    private final Path file;
    private final HostLock lock;
    private final Map<String, Held> held = new ConcurrentHashMap<>();

    /// The start of each use that has not ended.
    private final Map<Object, Long> uses = new ConcurrentHashMap<>();

    Claims(Path cacheDir, Path stateDir) {
        this.directory = cacheDir.resolve("claims");
        this.stateDir = real(stateDir);
        this.file = file(directory, this.stateDir);
        this.lock = new HostLock(directory.resolve(LOCK), LIMIT);
    }

    private static Path file(Path directory, String stateDir) {
        return directory.resolve(Recipe.hash(List.of(stateDir)));
    }

    /// Removes the record of an uninstalled instance.
    static void forget(Path cacheDir, Path stateDir) throws IOException {
        Files.deleteIfExists(file(cacheDir.resolve("claims"), real(stateDir)));
    }

    /// Whether another instance, whose state directory exists, keeps claims in this cache directory.
    static boolean areOfOthers(Path cacheDir, Path stateDir) throws IOException {
        Path directory = cacheDir.resolve("claims");
        if (!Files.isDirectory(directory)) {
            return false;
        }
        Path own = file(directory, real(stateDir));
        try (var files = Files.newDirectoryStream(directory, "[0-9a-f]*")) {
            for (var other : files) {
                if (!other.equals(own) && !other.toString().endsWith(".new") && !isVoid(other, Instant.MAX)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static String real(Path stateDir) {
        try {
            return stateDir.toRealPath().toString();
        } catch (IOException _) {
            return stateDir.toAbsolutePath().normalize().toString();
        }
    }

    /// Claims a layer.
    ///
    /// @param there whether the layer exists; called while nobody can remove it
    /// @return false if the layer does not exist
    boolean add(String key, BooleanSupplier there) {
        if (held.computeIfPresent(key, (_, old) -> new Held(System.nanoTime(), old.touched())) != null) {
            return there.getAsBoolean();
        }
        return there.getAsBoolean()
                && locked(() -> {
                    boolean still = there.getAsBoolean();
                    if (still) {
                        append(List.of(key));
                    }
                    return still;
                });
    }

    /// Claims a layer that is about to get its name.
    void announce(String key) {
        add(key, () -> true);
    }

    /// Claims those of many layers that exist, and keeps all claims of an earlier daemon.
    void addAll(Collection<String> keys, Predicate<String> there) {
        locked(() -> {
            append(keys.stream().filter(there).distinct().toList());
            var all = new TreeSet<>(keys(file));
            write(all);
            return all;
        });
    }

    /// Whether the time of the layer's last use is to be written to the disk; true once an hour.
    boolean isTouchDue(String key) {
        long now = System.nanoTime();
        var old = held.get(key);
        return old != null
                && now - old.touched() > TOUCH_EVERY.toNanos()
                && held.replace(key, old, new Held(old.at(), now));
    }

    /// Begins a use that claims layers before any record names them, like a build. Its claims stay until it is closed.
    LayerUse use() {
        var key = new Object();
        uses.put(key, System.nanoTime());
        return () -> uses.remove(key);
    }

    /// The moment from which on claims of this instance are kept, whether or not anything names the layer yet.
    long moment() {
        long now = System.nanoTime();
        return uses.values().stream().reduce(now, (one, other) -> one - other < 0 ? one : other);
    }

    /// Runs work while no thread claims a layer and no other instance removes one.
    <T> T locked(HostLock.Work<T> work) {
        try {
            RootOnly.directory(directory);
            return lock.hold(work);
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "cannot keep the list of layers in use in %s: %s".formatted(directory, e.getMessage()),
                    e);
        }
    }

    /// When claims were first kept in this cache directory. Older versions of Cay did not record when a layer was used.
    Instant began() throws IOException {
        return Files.getLastModifiedTime(directory.resolve(LOCK)).toInstant();
    }

    /// The claims of this instance after dropping those that no record names.
    ///
    /// @param since  see {@link #moment}
    /// @param dryRun whether nothing is dropped
    Set<String> own(Set<String> named, long since, boolean dryRun) throws IOException {
        var kept = new TreeSet<>(named);
        for (String key : List.copyOf(held.keySet())) {
            var still = held.computeIfPresent(
                    key, (_, claim) -> dryRun || named.contains(key) || claim.at() - since >= 0 ? claim : null);
            if (still != null && still.at() - since >= 0) {
                kept.add(key);
            }
        }
        if (!dryRun) {
            write(kept);
        }
        return kept;
    }

    /// The claims of other instances. Claims of an instance without a state directory expire when they were not changed
    /// for a while: the directory may be on a disk that is not mounted now.
    ///
    /// @param before the start of that while
    Set<String> others(Instant before, boolean dryRun) throws IOException {
        var all = new HashSet<String>();
        try (var files = Files.newDirectoryStream(directory, other -> isOthers(other))) {
            for (var other : files) {
                if (!isVoid(other, before)) {
                    all.addAll(keys(other));
                } else if (!dryRun) {
                    Files.deleteIfExists(other);
                }
            }
        }
        return all;
    }

    /// Whether an instance keeps claims here.
    boolean has(Path otherStateDir) {
        return Files.exists(file(directory, real(otherStateDir)));
    }

    private boolean isOthers(Path other) {
        String name = other.getFileName().toString();
        return !name.startsWith(".") && !name.endsWith(".new") && !other.equals(file);
    }

    private static boolean isVoid(Path other, Instant before) throws IOException {
        try (var lines = Files.lines(other, StandardCharsets.UTF_8)) {
            var state = lines.findFirst().filter(line -> line.startsWith("/"));
            return (state.isEmpty() || !Files.isDirectory(Path.of(state.get())))
                    && !Files.getLastModifiedTime(other).toInstant().isAfter(before);
        }
    }

    private static List<String> keys(Path claims) throws IOException {
        try {
            return Files.readAllLines(claims).stream()
                    .skip(1)
                    .filter(line -> !line.isBlank())
                    .toList();
        } catch (NoSuchFileException e) {
            return List.of();
        }
    }

    /// Appends keys. A line begins with a line feed, because a killed writer may have left half a line.
    private void append(Collection<String> keys) throws IOException {
        if (!Files.exists(file)) {
            write(Set.of());
        }
        long now = System.nanoTime();
        try (var channel = FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
            var lines = ByteBuffer.wrap(("\n" + String.join("\n", keys) + "\n").getBytes(StandardCharsets.UTF_8));
            while (lines.hasRemaining()) {
                channel.write(lines);
            }
            channel.force(true);
        }
        keys.forEach(key -> held.put(key, new Held(now, now - 2 * TOUCH_EVERY.toNanos())));
    }

    /// A loss of power must not cost claims, so the file is on the disk before it has its name.
    private void write(Set<String> keys) throws IOException {
        var fresh = file.resolveSibling(file.getFileName() + ".new");
        String text = stateDir + "\n" + String.join("\n", keys) + "\n";
        WholeFile.draft(fresh, text.getBytes(StandardCharsets.UTF_8));
        force(fresh);
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
        force(directory);
    }

    private static void force(Path path) throws IOException {
        try (var channel = FileChannel.open(path, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
