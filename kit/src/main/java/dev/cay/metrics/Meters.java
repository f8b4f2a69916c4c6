package dev.cay.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// All meters of this process. A second request for the same meter returns the first one, so each of a thousand
/// sandboxes may ask.
public final class Meters {
    private static final Logger log = LoggerFactory.getLogger(Meters.class);

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final ExpositionFormats formats = ExpositionFormats.init();
    private final Map<String, Tally> tallies = new ConcurrentHashMap<>();
    private final Map<String, Timing> timings = new ConcurrentHashMap<>();
    private boolean jvm;

    /// @param name   ends in `_total`
    /// @param labels labels with few, known values
    public Tally tally(String name, String help, String... labels) {
        return tallies.computeIfAbsent(
                name,
                _ -> new Tally(Counter.builder()
                        .name(name)
                        .help(help)
                        .labelNames(labels)
                        .register(registry)));
    }

    /// A histogram of durations, from half a millisecond to a minute.
    ///
    /// @param name ends in `_seconds`
    public Timing timing(String name, String help, String... labels) {
        return timings.computeIfAbsent(
                name,
                _ -> new Timing(Histogram.builder()
                        .name(name)
                        .help(help)
                        .labelNames(labels)
                        .classicOnly()
                        .classicUpperBounds(Timing.BOUNDS)
                        .register(registry)));
    }

    /// A gauge that is read at scrape time. Reading must be quick; a gauge that fails is left out.
    public void gauge(String name, String help, DoubleSupplier value) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .callback(callback -> attempt(name, () -> callback.call(value.getAsDouble())))
                .register(registry);
    }

    /// A gauge with one label, read at scrape time.
    public void gauges(String name, String help, String label, Supplier<Map<String, ? extends Number>> values) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .labelNames(label)
                .callback(callback -> attempt(
                        name, () -> values.get().forEach((key, value) -> callback.call(value.doubleValue(), key))))
                .register(registry);
    }

    /// A labelled counter whose values are read from their owner at scrape time.
    ///
    /// @param name ends in `_total`
    public void tallies(String name, String help, String label, Supplier<Map<String, ? extends Number>> values) {
        CounterWithCallback.builder()
                .name(name)
                .help(help)
                .labelNames(label)
                .callback(callback -> attempt(
                        name, () -> values.get().forEach((key, value) -> callback.call(value.doubleValue(), key))))
                .register(registry);
    }

    /// Reads one meter. Its failure must not lose the other meters of the page.
    private static void attempt(String name, Runnable look) {
        try {
            look.run();
        } catch (RuntimeException e) {
            log.atWarn().setCause(e).addKeyValue("meter", name).log("a meter cannot be read");
        }
    }

    /// All meters as text, in the form that fits the `Accept` header.
    public Page page(@Nullable String accept) {
        watchJvm();
        var writer = formats.findWriter(accept);
        var text = new ByteArrayOutputStream(1 << 16);
        try {
            writer.write(text, registry.scrape());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Page(writer.getContentType(), text.toByteArray());
    }

    public record Page(String contentType, byte[] text) {}

    /// Registers the JVM's meters at the first scrape: they load classes that a start need not wait for.
    private synchronized void watchJvm() {
        if (!jvm) {
            JvmMetrics.builder().register(registry);
            jvm = true;
        }
    }
}
