package dev.cay.node.image;

import dev.cay.life.Steps;
import dev.cay.node.host.Mounts;
import dev.cay.node.host.Programs;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Layers by content key, under `layers/KEY/rootfs` of the cache directory; shared by all instances on the host.
///
/// A layer gets its name only once it is complete and on disk, and is never written again. Only root may enter: the
/// set-uid programs in a layer are meant for sandboxes, not for users of the host.
///
/// {@link #build}, {@link #require} and {@link #claim} claim a layer for this instance: no instance removes it while a
/// record of this one names it ({@link UnusedLayers}).
public final class LayerStore {
    private static final Logger log = LoggerFactory.getLogger(LayerStore.class);
    static final Pattern KEY = Pattern.compile("[a-z0-9][a-z0-9-]{0,80}");
    private static final Duration BUILD_LIMIT = Duration.ofMinutes(60);
    private static final Duration PROGRAM_LIMIT = Duration.ofMinutes(5);
    static final String UNFINISHED = ".unfinished-";

    /// Fills an empty directory that becomes the layer's root.
    public interface Builder {
        void fill(Path rootfs) throws Exception;
    }

    /// A builder that reports its progress.
    interface SlowBuilder {
        void fill(Path rootfs, BuildProgress progress) throws Exception;
    }

    private final Path layers;
    private final @Nullable Claims claims;
    private final Programs programs = Programs.ofHost();

    /// A file lock is the process's, so threads of this one need a lock of their own.
    private final Map<String, ReentrantLock> building = new ConcurrentHashMap<>();

    /// The store of an instance.
    ///
    /// @param stateDir of the instance
    public LayerStore(Path cacheDir, Path stateDir) {
        this(cacheDir, new Claims(cacheDir, stateDir));
    }

    /// A store that claims nothing, for commands that end soon: nothing keeps their layers but their age.
    public LayerStore(Path cacheDir) {
        this(cacheDir, (Claims) null);
    }

    private LayerStore(Path cacheDir, @Nullable Claims claims) {
        this.layers = cacheDir.resolve("layers");
        this.claims = claims;
    }

    /// Whether another instance, whose state directory exists, needs layers of this cache directory.
    public static boolean isSharedWithOthers(Path cacheDir, Path stateDir) throws IOException {
        return Claims.areOfOthers(cacheDir, stateDir);
    }

    /// Removes the claims of an instance whose state directory is about to be deleted.
    public static void forget(Path cacheDir, Path stateDir) throws IOException {
        Claims.forget(cacheDir, stateDir);
    }

    /// Names something by all that it was made from.
    public static String hash(List<String> inputs) {
        return Recipe.hash(inputs);
    }

    /// Whether the layer exists now. It may be removed at any time: see {@link #claim}.
    public boolean has(String key) {
        return Files.isDirectory(path(key));
    }

    /// Claims a layer.
    ///
    /// @return false if it is not there
    public boolean claim(String key) {
        if (claims == null) {
            return has(key);
        }
        boolean there = claims.add(key, () -> has(key));
        if (there && claims.isTouchDue(key)) {
            touch(layers.resolve(key));
        }
        return there;
    }

    /// Claims those of many layers that exist, beside all claims of an earlier daemon of this instance.
    public void claimAll(Collection<String> keys) {
        if (claims != null) {
            claims.addAll(keys, this::has);
        }
    }

    /// Begins a use that gets layers before any record names them.
    public LayerUse use() {
        return claims == null ? () -> {} : claims.use();
    }

    /// The age of a layer counts from its last use, which is the time of its directory.
    private static void touch(Path layer) {
        try {
            if (!Files.isSymbolicLink(layer)) {
                Files.setLastModifiedTime(layer, FileTime.from(Instant.now()));
            }
        } catch (IOException e) {
            log.atWarn().setCause(e).addKeyValue("layer", layer).log("the last use of a layer cannot be written");
        }
    }

    /// The root directory of an existing layer, which is claimed.
    public Path require(String key) {
        if (!claim(key)) {
            throw new CayException(
                    ErrorKind.NOT_FOUND, "layer %s is not on this node; build its template again".formatted(key));
        }
        return path(key);
    }

    Path directory() {
        return layers;
    }

    /// The claims of this instance. A store without claims removes nothing.
    Claims requireClaims() {
        if (claims == null) {
            throw new IllegalStateException("a store without claims");
        }
        return claims;
    }

    /// The directory of a layer, whether or not it exists.
    public Path path(String key) {
        if (!KEY.matcher(key).matches()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "bad layer key: " + key);
        }
        return layers.resolve(key).resolve("rootfs");
    }

    /// Bytes on disk, counted when the layer was made.
    public long size(String key) {
        try {
            return Long.parseLong(
                    Files.readString(path(key).resolveSibling("bytes")).strip());
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "layer %s has no size".formatted(key), e);
        }
    }

    /// Returns the layer, made now if it is not there. Of several callers, also in other processes, one builds and
    /// the others wait for it.
    public Path build(String key, Builder builder) {
        return build(key, (_, _, _) -> {}, (rootfs, _) -> builder.fill(rootfs));
    }

    /// Builds a layer that takes minutes.
    ///
    /// @param progress gets the progress, also of a builder in another process
    Path build(String key, BuildProgress progress, SlowBuilder builder) {
        if (claim(key)) {
            return path(key);
        }
        var mine = building.computeIfAbsent(key, _ -> new ReentrantLock());
        try {
            if (!mine.tryLock(BUILD_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new CayException(ErrorKind.UNAVAILABLE, "layer %s is still being built".formatted(key));
            }
            try {
                prepare();
                return buildLocked(key, progress, builder);
            } finally {
                mine.unlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "building layer %s was interrupted".formatted(key), e);
        } catch (CayException e) {
            throw e.kind() == ErrorKind.INTERNAL && isNoSpace(e) ? noSpace(e) : e;
        } catch (Exception e) {
            throw isNoSpace(e)
                    ? noSpace(e)
                    : new CayException(ErrorKind.INTERNAL, "layer %s could not be built".formatted(key), e);
        }
    }

    /// Whether the disk of layers was full. Programs that copy files print the kernel's words.
    private static boolean isNoSpace(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (String.valueOf(each.getMessage()).matches("(?s).*(No space left on device|Disk quota exceeded).*")) {
                return true;
            }
        }
        return false;
    }

    private CayException noSpace(Exception cause) {
        return new CayException(
                ErrorKind.UNAVAILABLE,
                "this machine has no room for another layer; let the operator make room in %s".formatted(layers),
                cause);
    }

    public void delete(String key) {
        var layer = path(key).getParent();
        if (layer != null && Files.isDirectory(layer)) {
            remove(layer);
        }
    }

    /// Deletes all layers with this prefix of their keys, and unfinished ones.
    public void deleteAll(String prefix) throws IOException {
        path(prefix);
        if (!Files.isDirectory(layers)) {
            return;
        }
        for (String begin : List.of(prefix, UNFINISHED + prefix)) {
            try (var found = Files.newDirectoryStream(layers, begin + "*")) {
                found.forEach(this::remove);
            }
        }
    }

    private void prepare() throws IOException {
        Files.createDirectories(layers);
        Files.setPosixFilePermissions(layers, PosixFilePermissions.fromString("rwx------"));
    }

    private Path buildLocked(String key, BuildProgress progress, SlowBuilder builder) throws Exception {
        var notice = notice(key);
        try (var _ = LayerLock.take(layers, key, BUILD_LIMIT, () -> notice.tell(progress))) {
            if (claim(key)) {
                return path(key);
            }
            // The builder of these has died: this process has the lock.
            removeUnfinished(key);
            var place = Files.createTempDirectory(layers, UNFINISHED + key + ".");
            try {
                fill(place, rootfs -> builder.fill(rootfs, notice.and(progress)));
                if (claims != null) {
                    claims.announce(key);
                }
                Files.move(place, layers.resolve(key), StandardCopyOption.ATOMIC_MOVE);
                Steps.reach("layer-named");
            } catch (Exception e) {
                calmly(() -> remove(place));
                throw e;
            } finally {
                notice.remove();
            }
            return path(key);
        }
    }

    private void fill(Path place, Builder builder) throws Exception {
        var rootfs = Files.createDirectory(place.resolve("rootfs"));
        Files.setPosixFilePermissions(rootfs, PosixFilePermissions.fromString("rwxr-xr-x"));
        builder.fill(rootfs);
        String used = programs.require(PROGRAM_LIMIT, "du", "-s", "-x", "--block-size=1", rootfs.toString());
        Files.writeString(place.resolve("bytes"), used.split("\\s")[0] + "\n");
        programs.require(PROGRAM_LIMIT, "sync", "-f", place.toString());
    }

    /// The progress of a build of the layer, also in another process; empty when there is none.
    public Optional<String> underWay(String key) {
        return has(key) ? Optional.empty() : notice(key).read();
    }

    private BuildNotice notice(String key) {
        return new BuildNotice(layers.resolve("." + key + ".progress"));
    }

    /// Whether the layer is being built now, here or by another process.
    boolean isBeingBuilt(String key) throws IOException {
        return LayerLock.exists(layers, key) && !unlessBuilding(key, _ -> {});
    }

    /// Does something unless the layer is being built, here or by another process.
    ///
    /// @return false if it is being built
    boolean unlessBuilding(String key, LayerLock.Work work) throws IOException {
        var mine = building.computeIfAbsent(key, _ -> new ReentrantLock());
        if (!mine.tryLock()) {
            return false;
        }
        try {
            return LayerLock.tryWith(layers, key, work);
        } finally {
            mine.unlock();
        }
    }

    private void removeUnfinished(String key) throws IOException {
        try (var found = Files.newDirectoryStream(layers, UNFINISHED + key + ".*")) {
            found.forEach(this::removeIfPossible);
        }
    }

    /// Removes an unfinished layer. A program that a killed Cay started may still write there. Every build has a
    /// directory of its own, so a failed removal blocks nobody, and the next build of the same layer tries again.
    private void removeIfPossible(Path unfinished) {
        try {
            remove(unfinished);
        } catch (CayException e) {
            log.atWarn()
                    .addKeyValue("place", unfinished)
                    .setCause(e)
                    .log("cannot remove an unfinished layer; the next build of it tries again");
        }
    }

    /// Cleans up also on an interrupted thread, because unfinished layers would fill the disk.
    static void calmly(Runnable work) {
        boolean interrupted = Thread.interrupted();
        try {
            work.run();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /// Stays on one file system, should something be mounted there again. A build that was killed leaves `/proc` and
    /// others mounted.
    void remove(Path directory) {
        Mounts.unmountBelow(directory);
        programs.require(PROGRAM_LIMIT, "rm", "-rf", "--one-file-system", "--", directory.toString());
    }
}
