package dev.cay.platform;

import java.util.Arrays;
import java.util.function.DoubleSupplier;
import tools.jackson.databind.JsonNode;

/// Many measurements of one thing.
public final class Times {
    private final double[] sorted;

    public Times(double... values) {
        this.sorted = values.clone();
        Arrays.sort(sorted);
    }

    /// An array of numbers, as a script tells it.
    public static Times of(JsonNode numbers) {
        var values = new double[numbers.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = numbers.get(i).asDouble();
        }
        return new Times(values);
    }

    public static Times repeat(int count, DoubleSupplier one) {
        var values = new double[count];
        Arrays.setAll(values, _ -> one.getAsDouble());
        return new Times(values);
    }

    public double p50() {
        return at(0.50);
    }

    public double p99() {
        return at(0.99);
    }

    /// The smallest value that this part of all does not exceed.
    public double at(double part) {
        if (sorted.length == 0) {
            return Double.NaN;
        }
        return sorted[Math.clamp((int) Math.ceil(part * sorted.length) - 1, 0, sorted.length - 1)];
    }

    public int count() {
        return sorted.length;
    }
}
