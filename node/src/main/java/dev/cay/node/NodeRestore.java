package dev.cay.node;

import dev.cay.life.RootOnly;
import dev.cay.life.WholeFile;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.LayerUse;
import dev.cay.node.image.NodeLayer;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.node.sandbox.SavedNotes;
import dev.cay.node.snapshot.RestoredNotes;
import dev.cay.node.storage.Pool;
import dev.cay.node.storage.PoolDevice;
import dev.cay.node.storage.TreeStream;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.Saved;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Unpacks the node's parts of a backup into a new state directory, which no daemon uses.
///
/// Only the checksums of a backup say that a Cay wrote it, so names of parts are validated before they become paths;
/// the content of trees is hostile, and {@link TreeStream} handles it.
public final class NodeRestore implements AutoCloseable {

    private static final Pattern GUEST = Pattern.compile("guest/([0-9a-f]{24})/(cay-guest|criu-shim\\.so|criu)");
    private static final Pattern LAYER = Pattern.compile("layer/([a-z0-9][a-z0-9-]{0,80})");
    private static final Pattern SNAPSHOT =
            Pattern.compile("snapshot/([a-z0-9]+(?:\\.[a-z0-9]+)?)/(about\\.json|disk|processes|memory)");
    private static final Pattern SANDBOX = Pattern.compile("sandbox/([a-z0-9]+)/(sandbox\\.json|mcp\\.tokens)");
    private static final Pattern VOLUME = Pattern.compile("volume/([0-9a-f-]{36})/(size|files)");
    private static final Set<String> CERTIFICATES = Set.of("tls/ca.pem", "tls/bundle.pem");
    private static final long MIB = 1L << 20;

    /// The target of a restore.
    ///
    /// @param stateDir     its final path; guests are put there at once, because their files contain that path
    /// @param staging      a directory that becomes the state directory when everything is there
    /// @param gateway      the name server address for sandboxes
    /// @param certificates CA certificates of the operator; null for none
    public record Target(
            Path stateDir,
            Path staging,
            Path cacheDir,
            int poolSizeMB,
            String gateway,
            @Nullable Path certificates) {}

    /// A part of the backup.
    public interface Source {
        String name();

        /// The whole content of a small part, with its checksum verified.
        byte[] bytes();

        InputStream stream();

        /// Refuses a part that is not as it was written.
        void requireWhole();
    }

    private final Target target;
    private final boolean sameGateway;
    private final @Nullable String withoutMemory;
    private final LayerStore layers;
    private final LayerUse use;
    private final NodeLayer nodeLayer;
    private final Pool pool;
    private final TreeStream trees;
    private final GuestProgram tools;
    private final Map<String, RestoredNotes> snapshots = new HashMap<>();
    private final Map<String, byte[]> guestFiles = new HashMap<>();
    private final List<String> inexact = new ArrayList<>();

    /// @param gateway       address that sandboxes of the backup ask for names
    /// @param withoutMemory why memory is left out; null to take it
    public NodeRestore(Target target, String gateway, @Nullable String withoutMemory) {
        this.target = target;
        this.sameGateway = gateway.equals(target.gateway());
        this.withoutMemory = withoutMemory;
        this.layers = new LayerStore(target.cacheDir(), target.stateDir());
        this.use = layers.use();
        this.nodeLayer =
                new NodeLayer(layers, target.gateway(), target.staging().resolve("tls/ca.pem"), target.certificates());
        this.tools = GuestProgram.install(target.staging().resolve("tools"));
        this.trees = new TreeStream(tools);
        this.pool = Pool.open(target.staging(), target.poolSizeMB(), tools);
    }

    /// @return false if the part is not the node's
    public boolean take(Source part) throws IOException {
        var state = BackupState.NAME.matcher(part.name());
        var guest = GUEST.matcher(part.name());
        var layer = LAYER.matcher(part.name());
        var snapshot = SNAPSHOT.matcher(part.name());
        var sandbox = SANDBOX.matcher(part.name());
        var volume = VOLUME.matcher(part.name());
        if (state.matches() && BackupState.FILES.contains(state.group(1).split("/")[0])) {
            putState(state.group(1), part.bytes());
        } else if (guest.matches()) {
            putGuest(guest.group(1), guest.group(2), part.bytes());
        } else if (layer.matches()) {
            putLayer(layer.group(1), part);
        } else if (snapshot.matches()) {
            putSnapshot(snapshot.group(1), snapshot.group(2), part);
        } else if (sandbox.matches()) {
            putSandbox(sandbox.group(1), sandbox.group(2), part.bytes());
        } else if (volume.matches()) {
            putVolume(new VolumeId(volume.group(1)), volume.group(2), part);
        } else {
            return false;
        }
        return true;
    }

    private void putState(String name, byte[] content) throws IOException {
        Path file = target.staging().resolve(name);
        RootOnly.directory(file.resolveSibling(""));
        WholeFile.write(
                file,
                content,
                PosixFilePermissions.fromString(CERTIFICATES.contains(name) ? "rw-r--r--" : "rw-------"));
    }

    /// A guest has the name of its content, so that a wrong one is not found.
    private void putGuest(String key, String name, byte[] content) {
        guestFiles.put(key + "/" + name, content);
        byte[] program = guestFiles.get(key + "/cay-guest");
        byte[] shim = guestFiles.get(key + "/criu-shim.so");
        if (program != null && shim != null) {
            var put = GuestProgram.install(target.stateDir().resolve("guest"), program, shim);
            if (!put.key().equals(key)) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT, "the backup's guest %s is not what its name says".formatted(key));
            }
            guestFiles.keySet().removeIf(each -> each.startsWith(key));
        }
    }

    /// A layer has its name only when all of it was read and is whole.
    private void putLayer(String key, Source part) {
        if (key.startsWith("node-") && !sameGateway) {
            part.requireWhole();
            return;
        }
        layers.build(key, rootfs -> {
            trees.unpack(rootfs, false, part.stream());
            part.requireWhole();
        });
        part.requireWhole();
    }

    private void putSnapshot(String name, String what, Source part) throws IOException {
        Path place = pool.directory("snapshots").resolve(name);
        if (what.equals("about.json")) {
            var notes = adapted(RestoredNotes.of(part.bytes()));
            snapshots.put(name, notes);
            Files.createDirectory(place);
            Files.write(place.resolve(what), notes.json());
            return;
        }
        var notes = snapshots.get(name);
        if (notes == null) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "the backup has no notes of snapshot " + name);
        }
        Path directory = place.resolve(what);
        if (what.equals("disk")) {
            boolean kept = pool.makeEmpty(directory, notes.diskSizeMB() * MIB);
            if (!trees.unpack(directory, kept, part.stream()) && notes.hasMemory()) {
                inexact.add(name);
            }
        } else if (what.equals("processes") || notes.hasMemory()) {
            Files.createDirectory(directory);
            trees.unpack(directory, false, part.stream());
        }
        part.requireWhole();
    }

    private RestoredNotes adapted(RestoredNotes notes) {
        if (withoutMemory != null && notes.hasMemory()) {
            notes.dropMemory(withoutMemory);
        }
        notes.setLayers(here(notes.layers()));
        return notes;
    }

    /// The layer that names the gateway is another one where the gateway is.
    private List<String> here(List<String> keys) {
        if (sameGateway || keys.isEmpty() || !keys.getFirst().startsWith("node-")) {
            return keys;
        }
        var template = keys.subList(1, keys.size());
        var all = new ArrayList<>(List.of(nodeLayer.require(template)));
        all.addAll(template);
        return all;
    }

    private void putSandbox(String id, String what, byte[] content) throws IOException {
        Path all = RootOnly.directory(target.staging().resolve("sandboxes"));
        Path folder = RootOnly.directory(all.resolve(id));
        boolean notes = what.equals("sandbox.json");
        WholeFile.write(
                folder.resolve(what), notes ? SavedNotes.adapted(content, this::here, this::savedHere) : content);
    }

    private void putVolume(VolumeId id, String what, Source part) throws IOException {
        if (what.equals("size")) {
            try {
                pool.volumes().make(id, Long.parseLong(new String(part.bytes(), StandardCharsets.UTF_8)));
            } catch (NumberFormatException e) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, "the backup has no size of volume " + id, e);
            }
            return;
        }
        trees.unpack(pool.volumes().require(id), pool.limited(), part.stream());
        part.requireWhole();
    }

    private Saved savedHere(Saved saved) {
        return withoutMemory != null && saved.memory() ? Saved.filesOnly(withoutMemory) : saved;
    }

    /// Returns when everything is on the disk, and unmounts the pool.
    ///
    /// @return names of snapshots with memory whose files have other inode numbers now
    public List<String> finish() throws IOException {
        pool.sync();
        pool.unmount();
        dev.cay.life.Trees.delete(target.staging().resolve("tools"));
        return List.copyOf(inexact);
    }

    /// Closes without unmounting more; a caller that gives up deletes the staging directory.
    @Override
    public void close() {
        try {
            new PoolDevice(target.staging()).takeOff();
        } finally {
            use.close();
        }
    }
}
