package dev.cay.life;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The clocks of this machine: fine steps from the JVM's clock, which stands still while the machine sleeps; the sleep
/// from the kernel's uptime, which has steps of 10 ms.
///
/// The two are read one after the other, and this process may be suspended in between. That must not look like sleep,
/// which would put the clock ahead permanently: the uptime only counts when the JVM's clock hardly moved while it was
/// read.
public final class SystemClock implements MachineClock {
    private static final String UPTIME = "/proc/uptime";
    private static final long A_SLEEP = Duration.ofSeconds(1).toNanos();

    /// How far the JVM's clock may move while the uptime is read.
    private static final long HARDLY = Duration.ofMillis(50).toNanos();

    private static final int TRIES = 3;

    /// Declared last, because its constructor reads the constants above.
    private static final SystemClock ONLY = new SystemClock(System::nanoTime, new Uptime()::nanos);

    private final LongSupplier nanos;
    private final LongSupplier uptime;
    private final long began;
    private final long bootAtBegin;
    private long slept;

    /// @param nanos  a clock that stands still while the machine sleeps
    /// @param uptime nanoseconds since the machine was started, with its sleep
    SystemClock(LongSupplier nanos, LongSupplier uptime) {
        this.nanos = nanos;
        this.uptime = uptime;
        var first = read();
        this.began = first.nanos();
        this.bootAtBegin = first.uptime();
    }

    public static MachineClock only() {
        return ONLY;
    }

    @Override
    public Instant instant() {
        return Instant.now();
    }

    @Override
    public synchronized Duration sinceBoot() {
        var now = read();
        long awake = now.nanos() - began;
        long more = now.uptime() - bootAtBegin - awake - slept;
        if (now.isExact() && more > A_SLEEP) {
            slept += more;
        }
        return Duration.ofNanos(bootAtBegin + awake + slept);
    }

    /// Both clocks at one moment.
    ///
    /// @param apart how far the JVM's clock moved while the uptime was read
    private record Reading(long nanos, long uptime, long apart) {
        private boolean isExact() {
            return apart <= HARDLY;
        }
    }

    /// The last of a few tries, if none was exact: the next call tries again.
    private Reading read() {
        var reading = readOnce();
        for (int i = 1; i < TRIES && !reading.isExact(); i++) {
            reading = readOnce();
        }
        return reading;
    }

    private Reading readOnce() {
        long before = nanos.getAsLong();
        long up = uptime.getAsLong();
        long after = nanos.getAsLong();
        return new Reading(after, up, after - before);
    }

    /// The kernel's uptime, from a file that stays open: each command and many requests ask for the time.
    private static final class Uptime {
        private final byte[] text = new byte[64];
        private @Nullable RandomAccessFile file;

        synchronized long nanos() {
            try {
                var open = file == null ? new RandomAccessFile(UPTIME, "r") : file;
                file = open;
                open.seek(0);
                int length = Math.max(0, open.read(text));
                String seconds = new String(text, 0, length, StandardCharsets.US_ASCII).split(" ", 2)[0];
                return (long) (Double.parseDouble(seconds) * 1e9);
            } catch (IOException _) {
                return System.nanoTime();
            }
        }
    }
}
