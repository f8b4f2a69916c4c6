package dev.cay.node.build;

import dev.cay.dockerfile.Instruction.InlineFile;
import dev.cay.dockerfile.Selection;
import dev.cay.dockerfile.Selection.Entry;
import dev.cay.dockerfile.TarWriter;
import dev.cay.node.build.LayerOwners.Owner;
import dev.cay.node.image.LayerView;
import dev.cay.node.image.oci.LayerLimits;
import dev.cay.node.image.oci.LayerUnpacker;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Writes files into a layer as COPY does, on top of other layers. No program runs for it, so the image needs none.
///
/// Existing directories stay, also behind links. A file replaces what is there.
final class FilePlacement {
    private static final int PIPE = 1 << 20;
    private static final int DIRECTORY_MODE = 0755;
    private static final int FILE_MODE = 0644;

    private final List<Path> below;
    private final LayerView view;
    private final String destination;
    private final @Nullable Owner owner;
    private final @Nullable String mode;
    private final Set<String> made = new HashSet<>();

    /// @param below       roots of the layers below, top first
    /// @param destination absolute; with a slash at its end for a directory
    /// @param owner       of all files; null for root, or for what they have
    /// @param mode        of all files, in the words of chmod; null for what they have
    FilePlacement(List<Path> below, String destination, @Nullable Owner owner, @Nullable String mode) {
        this.below = below;
        this.view = new LayerView(below);
        this.destination = destination;
        this.owner = owner;
        this.mode = mode;
    }

    private interface Content {
        void writeTo(TarWriter tar) throws IOException;
    }

    /// Makes the destination, with the directories above it.
    void makeDirectory(Path rootfs) throws IOException {
        unpack(rootfs, tar -> directories(tar, destination));
    }

    void write(Path rootfs, List<PickedFiles> picked, List<InlineFile> inline) throws IOException {
        boolean into = destination.endsWith("/") || isDirectory(destination);
        if (!into && picked.size() + inline.size() > 1) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "several sources need a directory as destination; write %s/".formatted(destination));
        }
        unpack(rootfs, tar -> {
            for (var each : picked) {
                add(tar, each, into);
            }
            for (var each : inline) {
                add(tar, each, into);
            }
        });
    }

    private void add(TarWriter tar, PickedFiles picked, boolean into) throws IOException {
        String base = into || picked.directory() ? join(destination, picked.name()) : destination;
        directories(tar, picked.directory() ? base : parent(base));
        for (var entry : picked.entries()) {
            String rest = picked.below(entry);
            if (rest.isEmpty() && picked.directory()) {
                continue;
            }
            String target = rest.isEmpty() ? base : join(base, rest);
            if (entry.kind() == Selection.Kind.DIRECTORY) {
                if (isDirectory(target) || !made.add(target)) {
                    continue;
                }
            } else if (isDirectory(target)) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT, "%s is a directory, and would become a file".formatted(target));
            }
            var owned = owner(picked, entry);
            entry.writeTo(
                    tar, new TarWriter.Header(target, mode(entry), owned.uid(), owned.gid(), entry.mtimeSeconds()));
        }
    }

    private void add(TarWriter tar, InlineFile file, boolean into) throws IOException {
        String target = into ? join(destination, file.name()) : destination;
        directories(tar, parent(target));
        byte[] content = file.content().getBytes(StandardCharsets.UTF_8);
        int bits = mode == null ? FILE_MODE : FileMode.apply(mode, FILE_MODE, false);
        var owned = owner == null ? Owner.ROOT : owner;
        tar.file(
                new TarWriter.Header(target, bits, owned.uid(), owned.gid(), 0),
                content.length,
                new ByteArrayInputStream(content));
    }

    private void directories(TarWriter tar, String path) throws IOException {
        String plain = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
        if (plain.isEmpty() || made.contains(plain) || isDirectory(plain)) {
            return;
        }
        if (view.find(plain).place() != null) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "%s is no directory".formatted(plain));
        }
        directories(tar, parent(plain));
        made.add(plain);
        var owned = owner == null ? Owner.ROOT : owner;
        tar.directory(new TarWriter.Header(plain, DIRECTORY_MODE, owned.uid(), owned.gid(), 0));
    }

    private Owner owner(PickedFiles picked, Entry entry) throws IOException {
        if (owner != null || !picked.keepOwners()) {
            return owner == null ? Owner.ROOT : owner;
        }
        return new Owner((int) Files.getAttribute(entry.file(), "unix:uid", LinkOption.NOFOLLOW_LINKS), (int)
                Files.getAttribute(entry.file(), "unix:gid", LinkOption.NOFOLLOW_LINKS));
    }

    private int mode(Entry entry) {
        return mode == null || entry.kind() == Selection.Kind.LINK
                ? entry.mode()
                : FileMode.apply(mode, entry.mode(), entry.kind() == Selection.Kind.DIRECTORY);
    }

    private boolean isDirectory(String path) throws IOException {
        var place = path.equals("/") ? below.getFirst() : view.find(path).place();
        return place != null && Files.isDirectory(place, LinkOption.NOFOLLOW_LINKS);
    }

    private static String parent(String path) {
        return path.substring(0, Math.max(0, path.lastIndexOf('/')));
    }

    private static String join(String directory, String name) {
        String plain = directory.endsWith("/") ? directory.substring(0, directory.length() - 1) : directory;
        return name.isEmpty() ? directory : plain + "/" + name;
    }

    /// The archive is unpacked while another thread writes it.
    private void unpack(Path rootfs, Content content) throws IOException {
        var failure = new AtomicReference<@Nullable Exception>();
        CayException broken = null;
        var in = new PipedInputStream(PIPE);
        var out = new PipedOutputStream(in);
        var writer = Thread.ofPlatform().daemon().name("build-copy").start(() -> failure.set(write(out, content)));
        try (in) {
            new LayerUnpacker(LayerLimits.DEFAULT).unpack(in, rootfs, below);
        } catch (CayException e) {
            broken = e;
        }
        join(writer);
        var cause = failure.get();
        // An archive that is cut off is the writer's fault, and a pipe that is closed the reader's.
        if (cause instanceof CayException known) {
            throw known;
        }
        if (broken != null) {
            throw broken;
        }
        if (cause != null) {
            throw new IOException("files could not be copied: " + cause.getMessage(), cause);
        }
    }

    private static @Nullable Exception write(OutputStream out, Content content) {
        try (out) {
            var tar = new TarWriter(out);
            content.writeTo(tar);
            tar.finish();
            return null;
        } catch (IOException | RuntimeException e) {
            return e;
        }
    }

    private static void join(Thread writer) {
        try {
            writer.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "the build was stopped", e);
        }
    }
}
