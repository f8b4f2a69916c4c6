package dev.cay.node.image.oci;

import dev.cay.node.image.LayerStore;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Unpacks the layers of an image into the store, from the lowest to the topmost.
final class LayerInstall {
    private static final Logger log = LoggerFactory.getLogger(LayerInstall.class);

    private static final int BUFFER = 64 << 10;
    /// How many bytes of a broken layer are still read, to verify its digest.
    private static final long REST = 64 << 20;

    private final LayerStore layers;
    private final LayerUnpacker unpacker;

    LayerInstall(LayerStore layers, LayerUnpacker unpacker) {
        this.layers = layers;
        this.unpacker = unpacker;
    }

    /// Opens the compressed layers of an image by their index. The end of a stream is reached only if it is whole.
    interface Source {
        InputStream open(int index) throws IOException;
    }

    /// Indexes of layers that are not in the store, the lowest first. All others are claimed.
    List<Integer> missing(ImagePlan plan) {
        var keys = plan.keys();
        var missing = new ArrayList<Integer>();
        for (int i = 0; i < keys.size(); i++) {
            if (!layers.claim(keys.get(i))) {
                missing.add(i);
            }
        }
        return missing;
    }

    PulledImage install(ImagePlan plan, Source source) {
        var keys = plan.keys();
        for (int i = 0; i < keys.size(); i++) {
            int index = i;
            var below =
                    keys.subList(0, i).reversed().stream().map(layers::require).toList();
            layers.build(keys.get(i), rootfs -> unpack(plan, index, source, rootfs, below));
        }
        return new PulledImage(keys.reversed(), plan.config(), plan.digest());
    }

    private void unpack(ImagePlan plan, int index, Source source, Path rootfs, List<Path> below) throws IOException {
        try (var in = source.open(index)) {
            var unpacked = unpack(in, rootfs, below);
            in.transferTo(OutputStream.nullOutputStream());
            if (!unpacked.diffId().equals(plan.diffIds().get(index))) {
                throw BadImage.because(
                        "layer %d of the image has the digest %s when unpacked, and its configuration says %s"
                                .formatted(
                                        index + 1,
                                        unpacked.diffId(),
                                        plan.diffIds().get(index)));
            }
            if (!unpacked.skipped().isEmpty()) {
                log.atInfo()
                        .addKeyValue("image", plan.digest())
                        .addKeyValue("layer", index + 1)
                        .addKeyValue("devices", BadImage.shown(String.join(" ", unpacked.skipped())))
                        .log("devices of an image were left out");
            }
        }
    }

    /// Unpacks an archive while it is downloaded. It can turn out to be broken before its digest turns out to be wrong;
    /// then the digest is reported, because it is the cause.
    private LayerUnpacker.Unpacked unpack(InputStream in, Path rootfs, List<Path> below) throws IOException {
        try {
            return unpacker.unpack(in, rootfs, below);
        } catch (CayException broken) {
            byte[] rest = new byte[BUFFER];
            try {
                for (long read = 0; read < REST && in.read(rest) >= 0; read += BUFFER) {
                    // Only the end matters.
                }
            } catch (CayException cause) {
                cause.addSuppressed(broken);
                throw cause;
            }
            throw broken;
        }
    }
}
