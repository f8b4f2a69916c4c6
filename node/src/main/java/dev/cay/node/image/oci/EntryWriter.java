package dev.cay.node.image.oci;

import dev.cay.node.linux.Attributes;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.EntryCalls;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongConsumer;

/// Writes the entries of a layer's archive into a {@link LayerTree}, one after the other. Of several entries with one
/// name the last wins, of whatever type.
final class EntryWriter {
    private static final int HIGHEST_ID = 65_535;
    private static final int MOST_SKIPPED = 20;
    private static final int BUFFER = 256 << 10;

    /// Devices that do no harm: null, zero, full, random, urandom, tty.
    private static final Set<String> DEVICES = Set.of("1:3", "1:5", "1:7", "1:8", "1:9", "5:0");

    private final LayerTree tree;
    private final LayerLimits limits;
    private final Whiteouts whiteouts;
    private final HardLinks links;
    private final byte[] buffer = new byte[BUFFER];
    private final List<String> skipped = new ArrayList<>();
    private final long end;
    private long count;
    private boolean rootNamed;

    /// @param bytesBeside gets the number of bytes that are written but not in the archive, and throws when they are
    ///                    too many
    EntryWriter(LayerTree tree, LayerLimits limits, LongConsumer bytesBeside) {
        this.tree = tree;
        this.limits = limits;
        this.end = System.nanoTime() + limits.time().toNanos();
        this.whiteouts = new Whiteouts(tree);
        this.links = new HardLinks(tree, bytesBeside);
    }

    long count() {
        return count;
    }

    List<String> skipped() {
        return skipped;
    }

    void write(TarEntry entry, TarReader content) throws IOException {
        if (++count > limits.entries()) {
            throw BadImage.because("the layer has more than %,d entries".formatted(limits.entries()));
        }
        if (System.nanoTime() - end > 0) {
            throw BadImage.because("the layer could not be unpacked within " + limits.time());
        }
        var path = EntryPath.parse(entry.name(), entry.name());
        requireIds(entry);
        if (path.isRoot()) {
            writeRoot(entry);
            return;
        }
        if (whiteouts.take(entry, path) || !usable(entry)) {
            return;
        }
        if (entry.kind() == TarEntry.Kind.HARD_LINK) {
            links.write(entry, path);
            return;
        }
        var own = LayerTree.own(tree.make(path.parent(), entry.name()));
        Instant before = FileCalls.stat(own).modified();
        place(entry, own, path.last(), content);
        decorate(entry, own, path.last());
        EntryCalls.setModified(own, before);
    }

    /// Call this after the last entry.
    void finish() throws ErrnoException {
        var below = tree.layersBelow();
        var own = LayerTree.own(tree.root());
        whiteouts.finish();
        if (!rootNamed && !below.isEmpty()) {
            FileCopy.attributes(below.getFirst(), ".", own, ".", FileCalls.stat(below.getFirst()));
        } else if (!rootNamed) {
            EntryCalls.setModified(own, Instant.EPOCH);
        }
    }

    private static void requireIds(TarEntry entry) {
        for (long id : new long[] {entry.uid(), entry.gid()}) {
            if (id < 0 || id > HIGHEST_ID) {
                throw BadImage.entry(
                        entry.name(),
                        "belongs to user %d and group %d, and sandboxes have ids up to %d only"
                                .formatted(entry.uid(), entry.gid(), HIGHEST_ID));
            }
        }
    }

    private void writeRoot(TarEntry entry) throws ErrnoException {
        if (entry.kind() != TarEntry.Kind.DIRECTORY) {
            throw BadImage.entry(entry.name(), "is the root and must be a directory");
        }
        rootNamed = true;
        decorate(entry, LayerTree.own(tree.root()), ".");
    }

    /// False for a device that sandboxes could not use anyway: they have their own `/dev`.
    private boolean usable(TarEntry entry) {
        boolean character = entry.kind() == TarEntry.Kind.CHARACTER_DEVICE;
        if (!character && entry.kind() != TarEntry.Kind.BLOCK_DEVICE) {
            return true;
        }
        if (entry.major() == 0 && entry.minor() == 0) {
            throw BadImage.entry(entry.name(), "is device 0:0, which would hide files of other layers");
        }
        if (character && DEVICES.contains(entry.major() + ":" + entry.minor())) {
            return true;
        }
        if (skipped.size() < MOST_SKIPPED) {
            skipped.add(entry.name());
        }
        return false;
    }

    private void place(TarEntry entry, Descriptor own, String name, TarReader content) throws IOException {
        var there = FileCalls.find(own, name);
        if (entry.kind() != TarEntry.Kind.DIRECTORY) {
            tree.clear(own, name, there);
        }
        switch (entry.kind()) {
            case DIRECTORY -> {
                if (there == null || !there.directory()) {
                    tree.makeDirectory(own, name, there);
                }
            }
            case FILE -> writeFile(entry, own, name, content);
            case SYMLINK -> EntryCalls.symlink(entry.linkName(), own, name);
            case FIFO -> EntryCalls.makeNode(own, name, EntryCalls.FIFO | 0600, 0, 0);
            case CHARACTER_DEVICE ->
                EntryCalls.makeNode(
                        own, name, EntryCalls.CHARACTER_DEVICE | 0600, (int) entry.major(), (int) entry.minor());
            case HARD_LINK, BLOCK_DEVICE ->
                throw new IllegalStateException(entry.kind().name());
        }
    }

    private void writeFile(TarEntry entry, Descriptor own, String name, TarReader content) throws IOException {
        try (var file = FileCalls.create(own, name, 0600)) {
            long end = 0;
            if (entry.sparse().isEmpty()) {
                for (int count = content.read(buffer, 0, BUFFER); count >= 0; count = content.read(buffer, 0, BUFFER)) {
                    write(file, count, end);
                    end += count;
                }
            }
            for (var chunk : entry.sparse()) {
                for (long done = 0; done < chunk.length(); ) {
                    int count = content.read(buffer, 0, (int) Math.min(BUFFER, chunk.length() - done));
                    write(file, count, chunk.offset() + done);
                    done += count;
                    end = chunk.offset() + done;
                }
            }
            if (end != entry.size()) {
                DescriptorIo.truncate(file, entry.size());
            }
        }
    }

    private void write(Descriptor file, int count, long position) throws ErrnoException {
        for (int done = 0; done < count; ) {
            done += DescriptorIo.pwrite(file, buffer, done, count - done, position + done);
        }
    }

    /// Owner first: the kernel takes set-id bits and capabilities away when it changes.
    private static void decorate(TarEntry entry, Descriptor own, String name) throws ErrnoException {
        EntryCalls.setOwner(own, name, (int) entry.uid(), (int) entry.gid());
        if (entry.kind() != TarEntry.Kind.SYMLINK) {
            EntryCalls.setMode(own, name, entry.mode());
        }
        boolean takesAttributes = entry.kind() == TarEntry.Kind.FILE || entry.kind() == TarEntry.Kind.DIRECTORY;
        for (var attribute : entry.attributes().entrySet()) {
            if (kept(attribute.getKey(), entry) && takesAttributes) {
                Attributes.write(own, name, attribute.getKey(), attribute.getValue());
            }
        }
        EntryCalls.setModified(own, name, entry.modified());
    }

    /// Attributes by which overlayfs would see the layer otherwise are refused. What belongs to another host's
    /// security module, or to access lists with ids of its own, is left out.
    private static boolean kept(String attribute, TarEntry entry) {
        if (attribute.startsWith("trusted.") || attribute.startsWith("user.overlay.")) {
            throw BadImage.entry(
                    entry.name(),
                    "has the attribute %s, which images must not set".formatted(BadImage.shown(attribute)));
        }
        return attribute.equals("security.capability") || attribute.startsWith("user.");
    }
}
