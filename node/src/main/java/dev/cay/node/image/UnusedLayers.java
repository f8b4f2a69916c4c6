package dev.cay.node.image;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/// Finds and removes unused layers of the cache directory that the instances of a host share.
///
/// A layer is unused when no instance claims it and nothing started from it for a while. It is removed in two steps: it
/// is renamed while the lock of the {@link Claims} is held, and deleted later, which takes long. If the daemon is
/// killed in between, the next collection finds the renamed layer and deletes it.
public final class UnusedLayers {
    private static final String REMOVED = ".removed-";
    private static final Pattern UNFINISHED =
            Pattern.compile(Pattern.quote(LayerStore.UNFINISHED) + "(" + LayerStore.KEY.pattern() + ")\\.[^.]+");
    private static final Pattern LOCK = Pattern.compile("\\.(" + LayerStore.KEY.pattern() + ")\\.lock");
    private static final Pattern PROGRESS =
            Pattern.compile("\\.(" + LayerStore.KEY.pattern() + ")\\.progress(\\.new)?");

    private final Path layers;
    private final LayerStore store;
    private final Claims claims;
    private final Supplier<List<Path>> stateDirs;

    /// @param stateDirs state directories of the instances of this host, which may share the cache
    public UnusedLayers(LayerStore store, Supplier<List<Path>> stateDirs) {
        this.layers = store.directory();
        this.store = store;
        this.claims = store.requireClaims();
        this.stateDirs = stateDirs;
    }

    /// Begins a collection. Layers that are claimed from now on stay.
    ///
    /// @return the moment for {@link #layers}; the layers that this instance needs must be gathered after it
    public long begin() {
        return claims.moment();
    }

    /// Renames unused layers, and drops claims of this instance that nothing needs.
    ///
    /// @param named  keys of all layers that records of this instance name
    /// @param since  the result of {@link #begin}
    /// @param before layers that were used after this moment stay
    /// @param dryRun whether everything is left as it is
    public List<Unused> layers(Set<String> named, long since, Instant before, boolean dryRun) {
        var older = new OlderInstances(stateDirs.get().stream()
                .filter(stateDir -> !claims.has(stateDir))
                .toList());
        return claims.locked(() -> {
            var kept = new HashSet<>(older.layers());
            kept.addAll(claims.own(named, since, dryRun));
            kept.addAll(claims.others(before, dryRun));
            var began = claims.began();
            var unused = new ArrayList<Unused>();
            for (var layer : directories(name -> name.startsWith(REMOVED))) {
                unused.add(new Unused("half removed layer", name(layer), size(layer), () -> store.remove(layer)));
            }
            for (var layer : directories(name -> LayerStore.KEY.matcher(name).matches())) {
                if (!kept.contains(name(layer)) && isUnused(layer, began, before)) {
                    unused.add(takeName(layer, dryRun));
                }
            }
            return unused;
        });
    }

    /// Whether a layer is unused. Before claims were kept, uses were not recorded, so the age of an old layer counts
    /// from then.
    private static boolean isUnused(Path layer, Instant began, Instant before) throws IOException {
        var used = Files.getLastModifiedTime(layer, LinkOption.NOFOLLOW_LINKS).toInstant();
        return !(used.isAfter(began) ? used : began).isAfter(before);
    }

    private Unused takeName(Path layer, boolean dryRun) throws IOException {
        String key = name(layer);
        long bytes = size(layer);
        if (dryRun) {
            return new Unused("layer", key, bytes, () -> {});
        }
        var removed = layers.resolve(REMOVED + key + "." + System.nanoTime());
        Files.move(layer, removed, StandardCopyOption.ATOMIC_MOVE);
        return new Unused("layer", key, bytes, () -> store.remove(removed));
    }

    /// Files of killed builds, and small files that belong to layers.
    ///
    /// @param before files that were changed after this moment stay
    public List<Unused> leftovers(Instant before) {
        try {
            var unused = new ArrayList<Unused>();
            for (var place : directories(name -> UNFINISHED.matcher(name).matches())) {
                if (isOld(place, before) && !store.isBeingBuilt(key(UNFINISHED, place))) {
                    unused.add(new Unused("unfinished layer", name(place), 0, () -> removeUnfinished(place)));
                }
            }
            Unused.files("files of ended builds", old(PROGRESS, before), Files::deleteIfExists)
                    .ifPresent(unused::add);
            Unused.files("locks of layers", old(LOCK, before), this::deleteLock).ifPresent(unused::add);
            return unused;
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "cannot look for unused files in " + layers, e);
        }
    }

    private void removeUnfinished(Path place) {
        try {
            store.unlessBuilding(key(UNFINISHED, place), _ -> store.remove(place));
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "cannot remove " + place, e);
        }
    }

    private void deleteLock(Path lock) throws IOException {
        store.unlessBuilding(key(LOCK, lock), Files::deleteIfExists);
    }

    private List<Path> old(Pattern name, Instant before) throws IOException {
        var found = new ArrayList<Path>();
        for (var file : entries(text -> name.matcher(text).matches())) {
            if (isOld(file, before)) {
                found.add(file);
            }
        }
        return found;
    }

    private static boolean isOld(Path path, Instant before) throws IOException {
        try {
            return !Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS)
                    .toInstant()
                    .isAfter(before);
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /// The layers' directories. A link is no layer, whatever its target is.
    private List<Path> directories(Predicate<String> wanted) throws IOException {
        return entries(wanted).stream()
                .filter(path -> Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
                .toList();
    }

    private List<Path> entries(Predicate<String> wanted) throws IOException {
        if (!Files.isDirectory(layers)) {
            return List.of();
        }
        try (var all = Files.list(layers)) {
            return all.filter(path -> wanted.test(name(path))).sorted().toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static String name(Path path) {
        return path.getFileName().toString();
    }

    private static String key(Pattern pattern, Path path) {
        var matcher = pattern.matcher(name(path));
        if (!matcher.matches()) {
            throw new IllegalArgumentException(path.toString());
        }
        return matcher.group(1);
    }

    private static long size(Path layer) {
        try {
            return Long.parseLong(Files.readString(layer.resolve("bytes")).strip());
        } catch (IOException | NumberFormatException e) {
            return 0;
        }
    }
}
