package dev.cay.node.mcp.server;

import dev.cay.node.image.BuildProgress;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.oci.ImageReference;
import dev.cay.node.image.oci.Images;
import dev.cay.node.image.oci.LayerMerge;
import dev.cay.node.image.oci.PulledImage;
import dev.cay.node.image.oci.RegistryCredentials;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The container images of MCP servers. Thread-safe.
///
/// The catalog names images by tags, and a tag can be moved at any time. The first pull of a name writes the image's
/// digest to a lock file ({@link ImageLock}); from then on the name means that image, which also starts when no
/// registry can be reached.
public final class ServerImages implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ServerImages.class);

    /// Most layers, because the node's own layer is mounted on top.
    private static final int MOST_LAYERS = 39;

    private static final int PULLS_AT_ONCE = 3;
    private static final Duration LIMIT = Duration.ofMinutes(30);

    private final Images images;
    private final LayerStore layers;
    private final ImageLock lock;
    private final Map<String, Future<ServerImage>> underWay = new ConcurrentHashMap<>();
    private final Map<String, String> progress = new ConcurrentHashMap<>();
    private final Set<String> compared = ConcurrentHashMap.newKeySet();

    /// Pulls block on the disk, which virtual threads must not.
    private final ExecutorService threads = Executors.newFixedThreadPool(
            PULLS_AT_ONCE, Thread.ofPlatform().daemon().name("server-image-", 0).factory());

    /// @param lockFile where digests are kept
    public ServerImages(Images images, LayerStore layers, Path lockFile) {
        this.images = images;
        this.layers = layers;
        this.lock = new ImageLock(lockFile);
    }

    /// The lock file of an instance.
    ///
    /// @param stateDir of the instance
    public static Path lockFile(Path stateDir) {
        return stateDir.resolve("mcp-images.json");
    }

    /// The image of a name, pulled if it is not here. Several callers wait for the same pull.
    ServerImage require(String name) {
        var reference = ImageReference.parse(name).toString();
        var there = here(reference);
        if (there != null) {
            compareOnce(reference, there.digest());
            return there;
        }
        var pull = underWay.computeIfAbsent(reference, _ -> threads.submit(() -> pull(reference)));
        try {
            return await(reference, pull);
        } finally {
            underWay.remove(reference, pull);
        }
    }

    private @Nullable ServerImage here(String reference) {
        var locked = lock.find(reference);
        return locked != null && locked.layers().stream().allMatch(layers::claim) ? locked : null;
    }

    private ServerImage await(String reference, Future<ServerImage> pull) {
        try {
            return pull.get(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof CayException known
                    ? known
                    : new CayException(
                            ErrorKind.INTERNAL, "image %s could not be pulled".formatted(reference), e.getCause());
        } catch (TimeoutException e) {
            pull.cancel(true);
            throw new CayException(
                    ErrorKind.DEADLINE_EXCEEDED,
                    "image %s could not be pulled within %d minutes".formatted(reference, LIMIT.toMinutes()),
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "the pull of image %s was interrupted".formatted(reference), e);
        }
    }

    /// Pulls an image. Removed layers of a locked image are fetched by its digest.
    private ServerImage pull(String reference) {
        var locked = lock.find(reference);
        var wanted = ImageReference.parse(reference);
        try (var _ = layers.use()) {
            var pulled = images.pull(
                    locked == null ? wanted : wanted.at(locked.digest()),
                    RegistryCredentials.none(),
                    (step, detail, fraction) ->
                            progress.put(reference, "%3.0f %% %s %s".formatted(fraction * 100, step, detail)));
            return keep(reference, pulled);
        } finally {
            progress.remove(reference);
        }
    }

    private ServerImage keep(String reference, PulledImage pulled) {
        var image = ServerImage.of(pulled, new LayerMerge(layers).atMost(MOST_LAYERS, pulled.layerKeys()));
        lock.put(reference, image);
        return image;
    }

    /// The progress of a pull; empty without one.
    String progress(String name) {
        return progress.getOrDefault(ImageReference.parse(name).toString(), "");
    }

    /// Compares the digest with the registry's, once for each start of the daemon, in the background.
    private void compareOnce(String reference, String digest) {
        var wanted = ImageReference.parse(reference);
        if (wanted.digest() != null || !compared.add(reference)) {
            return;
        }
        threads.execute(() -> {
            try {
                var now = images.digest(wanted, RegistryCredentials.none()).toString();
                if (!now.equals(digest)) {
                    log.atWarn()
                            .addKeyValue("image", reference)
                            .addKeyValue("here", digest)
                            .addKeyValue("registry", now)
                            .log("the registry has another image under this name; the local one is used");
                }
            } catch (CayException e) {
                log.atDebug()
                        .setCause(e)
                        .addKeyValue("image", reference)
                        .log("an image could not be compared with the registry");
            }
        });
    }

    /// Takes an image out of an archive that has it under the name that the catalog has for it.
    ///
    /// @return the image's digest
    public String load(Path archive, String name, BuildProgress heard) {
        var reference = ImageReference.parse(name).toString();
        Callable<ServerImage> work = () -> {
            try (var _ = layers.use()) {
                return keep(reference, images.load(archive, reference, heard));
            }
        };
        return await(reference, threads.submit(work)).digest();
    }

    /// Content keys of the layers that the lock file names. They stay, as no registry may be there to fetch them again.
    public Set<String> layersInUse() {
        return lock.layers();
    }

    /// Ends running pulls.
    @Override
    public void close() {
        threads.shutdownNow();
    }
}
