package dev.cay.wire.rest;

import java.time.Instant;
import java.util.List;

/// How many attempts a webhook needed, over a stretch of time and for each part of it.
public record WebhookStats(List<Bucket> buckets, long total, long failed, Spread durationMs) {
    public WebhookStats {
        buckets = List.copyOf(buckets);
    }

    /// @param timestamp the beginning of this part
    public record Bucket(Instant timestamp, long total, long failed, Spread durationMs) {}

    /// How long attempts took; zeros without any.
    public record Spread(double minimum, double average, double maximum) {
        public static final Spread NONE = new Spread(0, 0, 0);
    }
}
