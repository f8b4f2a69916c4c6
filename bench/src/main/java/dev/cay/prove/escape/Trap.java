package dev.cay.prove.escape;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/// A directory outside that must stay as it is, unread and untold. Everybody may read and write it, so that nothing but
/// the way there protects it.
///
/// That it was read shows by the times of last access: they lie before those of the last change, where the kernel keeps
/// them up to date. That it was watched shows by a file that comes and goes in it.
final class Trap implements AutoCloseable {
    /// A size that nothing inside has.
    static final int SIZE = 65_537;

    private static final FileTime CHANGED = FileTime.from(Instant.parse("2026-01-02T00:00:00Z"));
    private static final FileTime READ = FileTime.from(Instant.parse("2026-01-01T00:00:00Z"));
    private static final String NOISE = "noise";

    private final Path directory;
    private final String secret;
    private final SortedMap<String, String> before;
    private final Thread noise;

    Trap(Path directory, String secret) throws IOException {
        this.directory = Files.createDirectories(directory);
        this.secret = secret;
        Path below = Files.createDirectories(directory.resolve("s"));
        for (Path folder : List.of(directory, below)) {
            Files.writeString(folder.resolve("f"), secret + "x".repeat(SIZE - secret.length()));
            Files.writeString(folder.resolve("canary-" + secret), secret);
        }
        for (Path folder : List.of(directory, below, Files.createDirectories(directory.resolve(NOISE)))) {
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
        }
        for (Path file : files()) {
            age(file);
        }
        this.before = state();
        this.noise = Thread.ofPlatform().daemon().name("noise").start(this::makeNoise);
    }

    private static void age(Path file) throws IOException {
        var view = Files.getFileAttributeView(file, java.nio.file.attribute.BasicFileAttributeView.class);
        view.setTimes(CHANGED, READ, null);
    }

    Path directory() {
        return directory;
    }

    private List<Path> files() throws IOException {
        try (var files = Files.walk(directory)) {
            return files.filter(file -> !file.startsWith(directory.resolve(NOISE)))
                    .sorted(java.util.Comparator.reverseOrder())
                    .toList();
        }
    }

    /// The names, then for each what a reader or writer would change. Looking at a directory is itself a reading, so
    /// each look puts the time back that it found.
    private SortedMap<String, String> state() throws IOException {
        var state = new TreeMap<String, String>();
        for (Path known : List.of(directory, directory.resolve("s"))) {
            state.put(
                    known + " read", Files.getAttribute(known, "lastAccessTime").toString());
        }
        for (Path file : files()) {
            var all = Files.readAttributes(file, "unix:mode,uid,gid,size,lastModifiedTime,lastAccessTime");
            if (Files.isDirectory(file)) {
                all = new TreeMap<>(all);
                all.remove("lastAccessTime");
            }
            state.put(file.toString(), new TreeMap<>(all).toString());
        }
        for (Path known : List.of(directory.resolve("s"), directory)) {
            age(known);
        }
        return state;
    }

    private void makeNoise() {
        try {
            for (int i = 0; !Thread.currentThread().isInterrupted(); i++) {
                Path file = directory.resolve(NOISE).resolve(secret + "-" + i);
                Files.createFile(file);
                Files.delete(file);
                TimeUnit.MILLISECONDS.sleep(20);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            // The trap is being taken away, or somebody who should not be here was: its state will show.
            Thread.currentThread().interrupt();
        }
    }

    /// What is not as it was.
    List<String> changes() throws IOException {
        var after = state();
        var changes = new ArrayList<String>();
        var names = new java.util.TreeSet<>(before.keySet());
        names.addAll(after.keySet());
        for (String name : names) {
            String was = before.getOrDefault(name, "nothing");
            String is = after.getOrDefault(name, "nothing");
            if (!was.equals(is)) {
                changes.add("%s was %s, is %s".formatted(name, was, is));
            }
        }
        for (Path file : List.of(directory.resolve("f"), directory.resolve("s/f"))) {
            if (!Files.exists(file) || !Files.readString(file).startsWith(secret + "x")) {
                changes.add("the content of %s was changed".formatted(file));
            }
        }
        return changes;
    }

    @Override
    public void close() {
        noise.interrupt();
        try {
            noise.join(TimeUnit.SECONDS.toMillis(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
