package dev.cay.node.sandbox;

import dev.cay.node.files.Account;
import dev.cay.node.files.FileTree;
import dev.cay.node.files.OpenFile;
import dev.cay.node.files.SandboxPath;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.LayerView;
import dev.cay.node.mcp.catalog.LaunchPlan.Volume;
import dev.cay.node.mcp.side.SideSandboxHost;
import dev.cay.node.runtime.ContainerSpec.Mount;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/// Volumes of one MCP server: directories beside its owner's files on the disk, so that they count as the owner's, are
/// saved and copied with it, and end with it. No other owner and no other server sees them.
///
/// A volume is named by a word or by a path. Where the owner has a file under that path, the server gets a copy of the
/// file instead, each time it starts.
final class SideVolumes {
    private static final String DIRECTORY = "volumes";
    private static final int LARGEST_FILE = 8 << 20;
    private static final int MOST_ENTRIES = 200_000;

    /// Paths that the node itself mounts.
    private static final Pattern RESERVED = Pattern.compile("|(proc|sys|dev)(/.*)?|run(/\\.cay.*)?");

    private final HostParts host;
    private final SandboxKeeper owner;
    private final SideSandboxHost.Wanted wanted;

    /// The merged view of the server's layers.
    private final LayerView view;

    private final Map<Volume, byte[]> files = new LinkedHashMap<>();
    private int copied;

    SideVolumes(HostParts host, SandboxKeeper owner, SideSandboxHost.Wanted wanted) {
        this.host = host;
        this.owner = owner;
        this.wanted = wanted;
        this.view = new LayerView(
                wanted.layers().stream().map(host.layers()::require).toList());
    }

    /// The mounts of the server's sandbox. A new volume begins with the files that the server's layers have at its
    /// place.
    List<Mount> mounts() {
        var mounts = new ArrayList<Mount>();
        try {
            for (var volume : wanted.volumes()) {
                var file = ownersFile(volume);
                if (file.isPresent()) {
                    files.put(volume, file.get());
                } else {
                    mounts.add(mount(volume));
                }
            }
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.FAILED, "the volumes of server %s cannot be made".formatted(wanted.server()), e);
        }
        return mounts;
    }

    /// The owner's file of that path; empty if there is none, or a directory.
    private Optional<byte[]> ownersFile(Volume volume) throws IOException {
        if (!volume.source().startsWith("/")) {
            return Optional.empty();
        }
        OpenFile file;
        try {
            file = owner.requireOpen().files().read(new SandboxPath(volume.source()));
        } catch (CayException e) {
            if (e.kind() == ErrorKind.NOT_FOUND || e.kind() == ErrorKind.INVALID_ARGUMENT) {
                return Optional.empty();
            }
            throw e;
        }
        try (file) {
            if (file.size() > LARGEST_FILE) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "%s is larger than the %d MB that an MCP server can be given as a file"
                                .formatted(volume.source(), LARGEST_FILE >> 20));
            }
            return Optional.of(file.stream(0, file.size()).readAllBytes());
        }
    }

    private Mount mount(Volume volume) throws IOException {
        // Resolved without links of the image, so that no link leads the mount elsewhere.
        String target = view.find(volume.target()).path();
        if (RESERVED.matcher(target).matches()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "server %s has a volume at %s, where none can be mounted"
                            .formatted(wanted.server(), volume.target()));
        }
        return new Mount(directory(volume.source(), target), "/" + target, volume.readOnly());
    }

    private Path directory(String source, String target) throws IOException {
        var files = host.pool().layer(owner.id());
        if (!Files.isDirectory(files)) {
            throw new CayException(ErrorKind.UNAVAILABLE, "sandbox %s does not run".formatted(owner.id()));
        }
        var all = Files.createDirectories(files.resolve(DIRECTORY));
        var place = all.resolve(LayerStore.hash(List.of(wanted.server(), source)));
        if (!Files.isDirectory(place)) {
            // The final name is given last, so that an interrupted copy is never used.
            var unfinished = Files.createTempDirectory(all, "new-");
            fill(target, unfinished);
            Files.move(unfinished, place, StandardCopyOption.ATOMIC_MOVE);
        }
        return place;
    }

    private void fill(String target, Path place) throws IOException {
        var seen = view.find(target).place();
        if (seen != null && Files.isDirectory(seen, LinkOption.NOFOLLOW_LINKS)) {
            Files.copy(seen, place, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
            copy(target, place);
        } else {
            // Open to every user, because only the server is in its sandbox.
            Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwxrwxrwx"));
        }
    }

    private void copy(String directory, Path to) throws IOException {
        for (var entry : view.list(directory).entrySet()) {
            if (++copied > MOST_ENTRIES) {
                throw new CayException(
                        ErrorKind.FAILED,
                        "server %s has more than %,d files where a volume is mounted"
                                .formatted(wanted.server(), MOST_ENTRIES));
            }
            var from = entry.getValue();
            boolean isDirectory = Files.isDirectory(from, LinkOption.NOFOLLOW_LINKS);
            if (isDirectory || Files.isSymbolicLink(from) || Files.isRegularFile(from, LinkOption.NOFOLLOW_LINKS)) {
                var copy = to.resolve(entry.getKey());
                Files.copy(from, copy, StandardCopyOption.COPY_ATTRIBUTES, LinkOption.NOFOLLOW_LINKS);
                if (isDirectory) {
                    copy(directory + "/" + entry.getKey(), copy);
                }
            }
        }
    }

    /// Writes the files that the owner had when the mounts were made. Only the server's own sandbox can read them.
    void copyFiles(FileTree sandbox) {
        files.forEach((volume, content) -> {
            try (var file = sandbox.write(new SandboxPath(volume.target()), Account.ROOT, Map.of())) {
                file.write(content);
            } catch (IOException e) {
                throw new CayException(
                        ErrorKind.FAILED,
                        "%s cannot be given to server %s".formatted(volume.source(), wanted.server()),
                        e);
            }
        });
    }
}
