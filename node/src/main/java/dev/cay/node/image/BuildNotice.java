package dev.cay.node.image;

import dev.cay.life.WholeFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/// A file in which the builder of a layer writes its progress, for other processes that wait.
final class BuildNotice {
    private static final Duration EVERY = Duration.ofSeconds(1);

    /// A killed builder leaves its last progress, which is ignored after this time.
    private static final Duration STALE = Duration.ofMinutes(10);

    private final Path file;
    private long written = System.nanoTime() - EVERY.toNanos();

    BuildNotice(Path file) {
        this.file = file;
    }

    /// Tells the file, and the other one too.
    BuildProgress and(BuildProgress other) {
        return (step, detail, fraction) -> {
            write(step, detail, fraction);
            other.at(step, detail, fraction);
        };
    }

    private synchronized void write(String step, String detail, double fraction) {
        if (System.nanoTime() - written < EVERY.toNanos()) {
            return;
        }
        written = System.nanoTime();
        try {
            WholeFile.write(file, String.format(Locale.ROOT, "%.3f\t%s\t%s", fraction, step, detail));
        } catch (IOException _) {
            // Waiting processes notice the end by the lock anyway.
        }
    }

    /// The last progress, in one line.
    Optional<String> read() {
        return words().map(words -> "%.0f %%, %s %s"
                .formatted(Double.parseDouble(words[0]) * 100, words[1], words[2])
                .strip());
    }

    /// Reports the last progress.
    void tell(BuildProgress progress) {
        words().ifPresent(words -> progress.at(words[1], words[2], Double.parseDouble(words[0])));
    }

    private Optional<String[]> words() {
        try {
            var age = Duration.ofMillis(
                    System.currentTimeMillis() - Files.getLastModifiedTime(file).toMillis());
            String[] words = Files.readString(file).split("\t", -1);
            return age.compareTo(STALE) < 0 && words.length == 3 && words[0].matches("[0-9.]+")
                    ? Optional.of(words)
                    : Optional.empty();
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    void remove() {
        try {
            Files.deleteIfExists(file);
        } catch (IOException _) {
            // An old notice expires by itself.
        }
    }
}
