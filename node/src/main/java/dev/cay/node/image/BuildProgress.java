package dev.cay.node.image;

import dev.cay.life.Progress;
import java.time.Duration;
import java.util.function.Consumer;

/// Receives the progress of a build.
public interface BuildProgress {
    /// @param step     the current step, the same words until it is done
    /// @param detail   changes during the step: a package, a size
    /// @param fraction the part of the whole that is done, 0 to 1
    void at(String step, String detail, double fraction);

    /// Reports only every few seconds, for people.
    static BuildProgress paced(Progress progress) {
        return paced(progress::detail);
    }

    /// The same with lines of text.
    static BuildProgress paced(Consumer<String> lines) {
        return new Paced(lines);
    }

    /// See {@link #paced}.
    final class Paced implements BuildProgress {
        private static final Duration EVERY = Duration.ofSeconds(3);

        private final Consumer<String> lines;
        private String step = "";
        private long spoke;

        private Paced(Consumer<String> lines) {
            this.lines = lines;
        }

        @Override
        public synchronized void at(String now, String detail, double fraction) {
            if (now.equals(step) && System.nanoTime() - spoke < EVERY.toNanos()) {
                return;
            }
            step = now;
            spoke = System.nanoTime();
            lines.accept("%3.0f %% %s %s".formatted(fraction * 100, now, detail));
        }
    }
}
