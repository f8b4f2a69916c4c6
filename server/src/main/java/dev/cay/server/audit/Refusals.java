package dev.cay.server.audit;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/// Limits how many failed and refused requests are recorded, so that nobody can fill the disk with them. The rest is
/// counted by sender.
final class Refusals {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration HOUR = Duration.ofHours(1);

    /// Limit for one sender in a minute.
    static final int MOST_OF_ONE = 20;

    /// Limits for all senders in a minute and in an hour. A hostile network has more addresses than this.
    static final int MOST_A_MINUTE = 200;

    private static final int MOST_AN_HOUR = 3000;

    /// Beyond these, senders are counted together.
    private static final int SENDERS = 1000;

    private static final String OTHERS = "others";

    private final Map<String, Integer> written = new HashMap<>();
    private final Map<String, Long> omitted = new HashMap<>();
    private Instant minute = Instant.EPOCH;
    private Instant hour = Instant.EPOCH;
    private int ofMinute;
    private int ofHour;

    /// Whether one more request of this sender may be recorded. If not, it is counted.
    synchronized boolean take(String sender, Instant now) {
        begin(now);
        String name = written.containsKey(sender) || written.size() < SENDERS ? sender : OTHERS;
        int count = written.merge(name, 1, Integer::sum);
        if (count > MOST_OF_ONE || ofMinute >= MOST_A_MINUTE || ofHour >= MOST_AN_HOUR) {
            omitted.merge(omitted.containsKey(name) || omitted.size() < SENDERS ? name : OTHERS, 1L, Long::sum);
            return false;
        }
        ofMinute++;
        ofHour++;
        return true;
    }

    /// The counts since the last call, by sender.
    synchronized Map<String, Long> takeOmitted() {
        var taken = Map.copyOf(omitted);
        omitted.clear();
        return taken;
    }

    /// Clocks may be set back, too.
    private void begin(Instant now) {
        if (Duration.between(minute, now).abs().compareTo(MINUTE) >= 0) {
            minute = now;
            ofMinute = 0;
            written.clear();
        }
        if (Duration.between(hour, now).abs().compareTo(HOUR) >= 0) {
            hour = now;
            ofHour = 0;
        }
    }
}
