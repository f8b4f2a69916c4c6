package dev.cay.node.build;

import dev.cay.dockerfile.BuildContext;
import dev.cay.dockerfile.IgnoreRules;
import dev.cay.dockerfile.Instruction.Source;
import dev.cay.dockerfile.Instruction.Transfer;
import dev.cay.dockerfile.Position;
import dev.cay.dockerfile.Selection;
import dev.cay.dockerfile.Selection.Matched;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.LayerView;
import dev.cay.node.image.oci.LayerLimits;
import dev.cay.node.image.oci.LayerUnpacker;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.BuildPlan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The sources of files for the instructions of one Dockerfile: build context, stages, images and URLs. Closing it
/// removes unpacked files.
final class FileSources implements AutoCloseable {
    private final LayerBuilder layerBuilder;
    private final BuildPlan plan;
    private final @Nullable String filesHash;
    private final RemoteFiles remote;

    /// @param filesHash names the archive of the context; null if there is none
    FileSources(LayerBuilder layerBuilder, BuildPlan plan, @Nullable String filesHash) {
        this.layerBuilder = layerBuilder;
        this.plan = plan;
        this.filesHash = filesHash;
        this.remote = new RemoteFiles(layerBuilder.web(), this::own);
    }

    /// The files for one instruction.
    ///
    /// @param hash of everything that matters about them
    record Taken(List<PickedFiles> files, String hash) {
        /// For an instruction without sources.
        static final Taken NOTHING = new Taken(List.of(), "");
    }

    /// The files of the build context that an instruction names.
    ///
    /// @param checksum of the only source, which is a URL; null if there is none
    /// @param file     name of the Dockerfile, for messages
    Taken take(Transfer transfer, @Nullable String checksum, String file, Position at) throws IOException {
        var files = new ArrayList<PickedFiles>();
        var hashes = new ArrayList<String>();
        for (var source : transfer.sources()) {
            if (source.isUrl()) {
                var fetched = remote.fetch(source.text(), checksum);
                files.add(fetched);
                hashes.add(fetched.name());
                hashes.add(ImageFiles.hash(fetched));
                continue;
            }
            var selection = BuildContext.of(context(), IgnoreRules.NONE).select(only(source, transfer), file, at);
            hashes.add(source.text());
            hashes.add(selection.hash());
            for (var matched : selection.sources()) {
                files.add(picked(matched, selection, transfer.parents()));
            }
        }
        return new Taken(files, LayerStore.hash(hashes));
    }

    /// The files of an image.
    ///
    /// @param layers content keys, top first
    Taken take(List<String> layers, Transfer transfer) throws IOException {
        var image = new ImageFiles(new LayerView(layerBuilder.roots(layers)));
        var files = new ArrayList<PickedFiles>();
        var hashes = new ArrayList<String>();
        for (var source : transfer.sources()) {
            for (var picked : image.pick(source.text())) {
                files.add(picked);
                hashes.add(source.text());
                hashes.add(ImageFiles.hash(picked));
            }
        }
        return new Taken(files, LayerStore.hash(hashes));
    }

    private Path context() {
        if (filesHash == null) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "there is no build context to copy files from");
        }
        if (!layerBuilder.uploads().has(plan.teamId(), filesHash)) {
            throw new CayException(
                    ErrorKind.FAILED, "the build context was not sent; build again, and the client sends it");
        }
        return own("context", filesHash, rootfs -> {
            try (var archive = layerBuilder.uploads().open(plan.teamId(), filesHash)) {
                new LayerUnpacker(LayerLimits.DEFAULT).unpack(archive, rootfs, List.of());
            }
        });
    }

    /// Makes a layer that exists while this is open.
    ///
    /// @param content identifies it within this build
    String temporary(String kind, String content, LayerStore.Builder builder) {
        String key = prefix() + kind + "-" + LayerStore.hash(List.of(content));
        layerBuilder.layers().build(key, builder);
        return key;
    }

    /// The prefix of the keys of all temporary layers of this build, also of those made before the daemon was killed.
    private String prefix() {
        return "temporary-" + LayerStore.hash(List.of(plan.id().value())) + "-";
    }

    private Path own(String kind, String content, LayerStore.Builder builder) {
        return layerBuilder.layers().require(temporary(kind, content, builder));
    }

    /// Unpacks files that are archives.
    ///
    /// @param remote whether files that were downloaded from a URL are unpacked too
    Taken unpack(Taken taken, boolean remote) throws IOException {
        var files = new ArrayList<PickedFiles>();
        for (var picked : taken.files()) {
            var file = picked.directory() ? null : picked.entries().getFirst().file();
            if (file == null || (picked.remote() && !remote) || !Archives.isArchive(file)) {
                files.add(picked);
                continue;
            }
            var root = own("archive", taken.hash() + picked.prefix(), rootfs -> {
                try (var archive = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
                    new LayerUnpacker(LayerLimits.DEFAULT).unpack(archive, rootfs, List.of());
                }
            });
            var all = BuildContext.of(root, IgnoreRules.NONE).select(everything(), picked.name(), new Position(1, 1));
            files.add(new PickedFiles("", true, "", all.entries(), true, false));
        }
        return new Taken(files, LayerStore.hash(List.of(taken.hash(), remote ? "all unpacked" : "unpacked")));
    }

    private static PickedFiles picked(Matched matched, Selection selection, boolean parents) {
        String path = matched.path();
        var entries = selection.entries().stream()
                .filter(entry -> path.isEmpty()
                        || entry.path().equals(path)
                        || entry.path().startsWith(path + "/"))
                .toList();
        String name = matched.directory() ? "" : last(path);
        if (parents) {
            name = path.substring(Math.min(
                    path.length(),
                    matched.parent().isEmpty() ? 0 : matched.parent().length() + 1));
        }
        return new PickedFiles(name, matched.directory(), path, entries, false, false);
    }

    private static Transfer only(Source source, Transfer all) {
        return new Transfer(
                List.of(source),
                List.of(),
                all.destination(),
                all.owner(),
                all.mode(),
                all.excludes(),
                all.link(),
                all.parents());
    }

    private static Transfer everything() {
        var root = new Source(new Position(1, 1), ".");
        return new Transfer(List.of(root), List.of(), "/", null, null, List.of(), false, false);
    }

    private static String last(String path) {
        String plain = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
        return plain.substring(plain.lastIndexOf('/') + 1);
    }

    @Override
    public void close() {
        // A build that is cancelled removes its files too: programs cannot be run by an interrupted thread.
        boolean interrupted = Thread.interrupted();
        try {
            layerBuilder.layers().deleteAll(prefix());
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "temporary layers of a build could not be listed", e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
