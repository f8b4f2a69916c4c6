package dev.cay.node.image.oci;

import dev.cay.node.image.BuildProgress;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// Fetches the layers of an image, a few at once, the lowest first. Each can be read while it arrives.
final class Downloads implements AutoCloseable {
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(30);

    private final RegistryImage image;
    private final ImagePlan plan;
    private final Path directory;
    private final RegistrySettings settings;
    private final BuildProgress progress;
    private final ExecutorService threads;
    private final Map<Integer, BlobDownload> downloads = new ConcurrentHashMap<>();
    private final AtomicLong fetched = new AtomicLong();
    private final long end;
    private long total;

    Downloads(RegistryImage image, ImagePlan plan, Path directory, RegistrySettings settings, BuildProgress progress) {
        this.image = image;
        this.plan = plan;
        this.directory = directory;
        this.settings = settings;
        this.progress = progress;
        this.end = System.nanoTime() + settings.whole().toNanos();
        this.threads = Executors.newFixedThreadPool(
                settings.parallel(),
                Thread.ofPlatform().daemon().name("cay-pull-", 0).factory());
    }

    /// @param missing indexes of the layers to fetch
    void start(List<Integer> missing) throws IOException {
        total = missing.stream()
                .mapToLong(index -> plan.layers().get(index).size())
                .sum();
        long free = Files.getFileStore(directory).getUsableSpace();
        if (total < 0 || total > free) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "the image has %,d MB of layers to fetch, and %s has only %,d MB free"
                            .formatted(total >> 20, directory.getParent(), free >> 20));
        }
        for (int index : missing) {
            var blob = plan.layers().get(index);
            var download = new BlobDownload(
                    blob,
                    directory.resolve("layer-" + index),
                    from -> image.layer(blob, from),
                    settings.patience(),
                    this::heard);
            downloads.put(index, download);
            threads.execute(download::run);
        }
    }

    private void heard(long bytes) {
        long now = fetched.addAndGet(bytes);
        if (now >> 20 == (now - bytes) >> 20 && now < total) {
            return; // Once for each megabyte is enough.
        }
        String detail = "%,d of %,d MB".formatted(now >> 20, total >> 20);
        progress.at("pulling", detail, total == 0 ? 1 : Math.min(1, (double) now / total));
    }

    InputStream open(int index) throws IOException {
        var download = downloads.get(index);
        if (download == null) {
            throw new IOException("layer %d was removed while the image was pulled".formatted(index + 1));
        }
        return download.follow(Duration.ofNanos(end - System.nanoTime()));
    }

    @Override
    public void close() {
        threads.shutdownNow();
        boolean interrupted = Thread.interrupted();
        try {
            threads.awaitTermination(CLOSE_LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
