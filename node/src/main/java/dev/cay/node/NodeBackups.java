package dev.cay.node;

import dev.cay.node.image.LayerStore;
import dev.cay.node.image.LayerUse;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.node.sandbox.SavedNotes;
import dev.cay.node.snapshot.SavedOn;
import dev.cay.node.snapshot.Snapshot;
import dev.cay.node.snapshot.SnapshotHold;
import dev.cay.node.snapshot.SnapshotStore;
import dev.cay.node.storage.Pool;
import dev.cay.node.storage.TreeStream;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.NodeBackup;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Gives a backup what this machine has: secrets, layers, saved sandboxes and snapshots.
final class NodeBackups implements NodeBackup {
    private static final Logger log = LoggerFactory.getLogger(NodeBackups.class);

    private final Path stateDir;
    private final LayerStore layers;
    private final SnapshotStore snapshots;
    private final Pool pool;
    private final TreeStream trees;
    private final String gateway;
    private final Runnable saveFrozen;

    /// @param saveFrozen saves what is paused and only frozen
    NodeBackups(
            Path stateDir,
            LayerStore layers,
            SnapshotStore snapshots,
            Pool pool,
            GuestProgram guest,
            String gateway,
            Runnable saveFrozen) {
        this.stateDir = stateDir;
        this.layers = layers;
        this.snapshots = snapshots;
        this.pool = pool;
        this.trees = new TreeStream(guest);
        this.gateway = gateway;
        this.saveFrozen = saveFrozen;
    }

    /// The directory for temporary copies. A new backup removes copies that an interrupted one left.
    private Path copies() {
        return pool.directory("volume-copies");
    }

    private Path records() {
        return stateDir.resolve("sandboxes");
    }

    @Override
    public Hold hold() {
        return new Reading(layers.use(), snapshots.hold());
    }

    private static @Nullable SavedOn machine() {
        try {
            return SavedOn.here();
        } catch (CayException e) {
            return null;
        }
    }

    private record FilePart(String name, byte[] content) implements Part {
        @Override
        public Kind kind() {
            return Kind.FILE;
        }

        @Override
        public void writeTo(OutputStream out) throws IOException {
            out.write(content);
        }
    }

    private record TreePart(String name, Kind kind, Path directory, TreeStream trees) implements Part {
        @Override
        public void writeTo(OutputStream out) throws IOException {
            trees.pack(directory, out);
        }
    }

    /// One backup.
    private final class Reading implements Hold {
        private final LayerUse use;
        private final SnapshotHold held;
        private Map<SandboxId, SavedNotes> saved = Map.of();
        private Set<SandboxId> frozen = Set.of();
        private final List<Part> parts = new ArrayList<>();
        private final Set<String> missing = new LinkedHashSet<>();
        private final Set<String> guests = new LinkedHashSet<>();
        private final Set<String> keys = new LinkedHashSet<>();
        private final List<Path> copied = new ArrayList<>();

        private Reading(LayerUse use, SnapshotHold held) {
            this.use = use;
            this.held = held;
        }

        @Override
        public void saveFrozen() {
            saveFrozen.run();
        }

        @Override
        public boolean look() {
            saved = SavedNotes.in(records()).stream().collect(Collectors.toMap(SavedNotes::id, Function.identity()));
            frozen = SavedNotes.frozen(records());
            return frozen.isEmpty();
        }

        @Override
        public Contents contents(Wanted wanted) {
            // Sorted by their names in the backup.
            var chosen = new TreeMap<String, Snapshot>();
            var notes = new TreeMap<String, SavedNotes>();
            for (var one : sandboxes(wanted)) {
                held.find(saved.containsKey(one.id()) ? one.snapshot() : running(wanted, one.id()))
                        .ifPresentOrElse(
                                found -> {
                                    chosen.put(one.snapshot(), found);
                                    notes.put(one.id().value(), one);
                                },
                                () -> missing.add("sandbox " + one.id()));
            }
            int named = 0;
            for (String name : wanted.snapshots()) {
                var found = held.find(name);
                found.ifPresentOrElse(it -> chosen.put(name, it), () -> missing.add("snapshot " + name));
                named += found.isPresent() ? 1 : 0;
            }
            keys.addAll(wanted.layers());
            chosen.values().forEach(snapshot -> {
                keys.addAll(snapshot.layers());
                keys.addAll(snapshot.spec().layers());
                snapshot.guest().ifPresent(guests::add);
            });
            gather(chosen, notes);
            wanted.volumes().forEach(this::addVolume);
            missing.forEach(what -> log.atWarn()
                    .addKeyValue("what", what)
                    .log("the backup lacks something that is not on this machine"));
            return new Contents(machine(), gateway, notes.size(), named, List.copyOf(missing), List.copyOf(parts));
        }

        private static String running(Wanted wanted, SandboxId id) {
            return Objects.requireNonNull(wanted.running().get(id), "neither saved nor running");
        }

        private List<SavedNotes> sandboxes(Wanted wanted) {
            var all = new ArrayList<SavedNotes>();
            for (var id : wanted.sandboxes()) {
                var paused = saved.get(id);
                String running = wanted.running().get(id);
                if (paused != null) {
                    all.add(paused);
                } else if (running != null) {
                    held.find(running)
                            .map(snapshot -> SavedNotes.ofRunning(records(), id, snapshot.saved()))
                            .ifPresent(all::addAll);
                } else if (frozen.contains(id)) {
                    missing.add("sandbox %s, which is paused and could not be saved".formatted(id));
                }
            }
            return all;
        }

        private void gather(Map<String, Snapshot> chosen, Map<String, SavedNotes> notes) {
            try {
                for (String name : BackupState.FILES) {
                    addState("state/" + name, stateDir.resolve(name));
                }
                for (String guest : guests) {
                    for (String file : GuestProgram.FILES) {
                        addFiles(
                                "guest/%s/%s".formatted(guest, file),
                                stateDir.resolve("guest").resolve(guest).resolve(file));
                    }
                }
                keys.forEach(this::addLayer);
                chosen.forEach(this::addSnapshot);
                for (var one : notes.values()) {
                    String name = "sandbox/" + one.id();
                    parts.add(new FilePart(name + "/sandbox.json", one.notes()));
                    addFiles(
                            name + "/mcp.tokens",
                            records().resolve(one.id().value()).resolve("mcp.tokens"));
                }
            } catch (IOException e) {
                throw new CayException(ErrorKind.UNAVAILABLE, "cannot read the state: " + e.getMessage(), e);
            }
        }

        /// The same for the state directory, in which the operator may have put something.
        private void addState(String name, Path path) throws IOException {
            if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                for (Path file : filesIn(path)) {
                    addState(name + "/" + file.getFileName(), file);
                }
            } else if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
                if (Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS) && BackupState.takes(name)) {
                    addFiles(name, path);
                } else {
                    missing.add("%s, which is a link or has a name that no restore takes".formatted(path));
                }
            }
        }

        private static List<Path> filesIn(Path directory) throws IOException {
            try (var list = Files.list(directory)) {
                return list.sorted().toList();
            }
        }

        /// A file, or all files of a directory; nothing if it is not there.
        private void addFiles(String name, Path path) throws IOException {
            if (Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
                parts.add(new FilePart(name, Files.readAllBytes(path)));
            } else if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                for (Path file : filesIn(path)) {
                    addFiles(name + "/" + file.getFileName(), file);
                }
            }
        }

        private void addLayer(String key) {
            if (layers.claim(key)) {
                parts.add(new TreePart("layer/" + key, Kind.TREE, layers.path(key), trees));
            } else {
                missing.add("layer " + key);
            }
        }

        private void addSnapshot(String name, Snapshot snapshot) {
            String prefix = "snapshot/" + name;
            parts.add(new FilePart(prefix + "/about.json", snapshot.notes()));
            parts.add(new TreePart(prefix + "/disk", Kind.DISK, snapshot.disk(), trees));
            parts.add(new TreePart(prefix + "/processes", Kind.TREE, snapshot.processes(), trees));
            if (snapshot.hasMemory()) {
                parts.add(new TreePart(prefix + "/memory", Kind.TREE, snapshot.images(), trees));
            }
        }

        /// Adds a copy of the volume, because sandboxes continue to write to it.
        private void addVolume(VolumeId id) {
            Path copy = copies().resolve(id.value());
            try {
                pool.deleteSaved(copy);
                pool.volumes().save(id, copy);
                copied.add(copy);
                String size = Long.toString(pool.volumes().bytes(id));
                parts.add(new FilePart("volume/" + id + "/size", size.getBytes(StandardCharsets.UTF_8)));
                parts.add(new TreePart("volume/" + id + "/files", Kind.DISK, copy, trees));
            } catch (CayException e) {
                log.atWarn()
                        .setCause(e)
                        .addKeyValue("volume", id)
                        .log("a volume could not be copied and is not in the backup");
                missing.add("volume " + id);
            }
        }

        @Override
        public void close() {
            copied.forEach(pool::deleteSaved);
            held.close();
            use.close();
        }
    }
}
