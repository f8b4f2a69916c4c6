package dev.cay.metrics;

import io.prometheus.metrics.core.metrics.Counter;

/// Counts upwards.
public final class Tally {
    private final Counter counter;

    Tally(Counter counter) {
        this.counter = counter;
    }

    public void count(String... labels) {
        add(1, labels);
    }

    public void add(long amount, String... labels) {
        if (labels.length == 0) {
            counter.inc(amount);
        } else {
            counter.labelValues(labels).inc(amount);
        }
    }
}
