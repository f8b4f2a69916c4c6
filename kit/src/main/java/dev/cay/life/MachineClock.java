package dev.cay.life;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/// The two clocks of a machine: that on the wall, which people and time servers set, and one that only goes on.
public interface MachineClock extends InstantSource {
    /// Time since the machine was started. Nobody can set it, and it counts the time the machine slept.
    Duration sinceBoot();

    static MachineClock system() {
        return SystemClock.ONLY;
    }

    /// Fine steps from the JVM's clock, which stands still while the machine sleeps; the sleep from the kernel's
    /// uptime, which has steps of 10 ms.
    final class SystemClock implements MachineClock {
        private static final Path UPTIME = Path.of("/proc/uptime");
        private static final long A_SLEEP = Duration.ofSeconds(1).toNanos();

        /// Last, as its making reads the two above.
        private static final SystemClock ONLY = new SystemClock();

        private final long began = System.nanoTime();
        private final long bootAtBegin = uptime();
        private long slept;

        private SystemClock() {}

        @Override
        public Instant instant() {
            return Instant.now();
        }

        @Override
        public synchronized Duration sinceBoot() {
            long awake = System.nanoTime() - began;
            long more = uptime() - bootAtBegin - awake - slept;
            if (more > A_SLEEP) {
                slept += more;
            }
            return Duration.ofNanos(bootAtBegin + awake + slept);
        }

        private static long uptime() {
            try (var in = Files.newInputStream(UPTIME)) {
                String text = new String(in.readNBytes(64), StandardCharsets.US_ASCII);
                return (long) (Double.parseDouble(text.substring(0, text.indexOf(' '))) * 1e9);
            } catch (IOException _) {
                return System.nanoTime();
            }
        }
    }
}
