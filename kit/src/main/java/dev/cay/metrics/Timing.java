package dev.cay.metrics;

import io.prometheus.metrics.core.metrics.Histogram;

/// A histogram of durations.
public final class Timing {
    static final double[] BOUNDS = {0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60};
    private static final double NANOS = 1e9;

    private final Histogram histogram;

    Timing(Histogram histogram) {
        this.histogram = histogram;
    }

    /// @param began `System.nanoTime()` of when it began
    public void since(long began, String... labels) {
        double seconds = (System.nanoTime() - began) / NANOS;
        if (labels.length == 0) {
            histogram.observe(seconds);
        } else {
            histogram.labelValues(labels).observe(seconds);
        }
    }
}
