package dev.cay.node.image;

import java.nio.file.Path;

/// Layers by content key, under `layers/KEY/rootfs` of the cache directory; shared by all instances on the host.
public final class LayerStore {
    /// Fills an empty directory that becomes the layer's root.
    public interface Builder {
        void fill(Path rootfs) throws Exception;
    }

    public LayerStore(Path cacheDir) {}

    public boolean has(String key) {
        return false;
    }

    /// The root directory of a layer that is there.
    public Path require(String key) {
        return path(key);
    }

    /// Where a layer lies, or would lie.
    public Path path(String key) {
        return Path.of(key);
    }

    /// Bytes on disk, counted when the layer was made.
    public long size(String key) {
        return 0;
    }

    /// Returns the layer, made now if it is not there. Of several callers, also in other processes, one builds and
    /// the others wait for it.
    public Path build(String key, Builder builder) {
        return path(key);
    }
}
