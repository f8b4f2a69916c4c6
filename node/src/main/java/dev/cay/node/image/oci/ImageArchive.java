package dev.cay.node.image.oci;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.cay.dockerfile.TarWriter;
import dev.cay.http.Json;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/// Writes an image as one file: an OCI layout with the list that `docker load` needs.
final class ImageArchive {
    static final String OCI_CONFIG = "application/vnd.oci.image.config.v1+json";
    static final String OCI_LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";
    static final String BLOBS = "blobs/sha256/";

    private static final int BUFFER = 256 << 10;

    private final TarWriter tar;
    private final Path staging;
    private final List<Layer> layers = new ArrayList<>();

    /// @param content  digest of the archive before it is compressed
    /// @param location where it is in the file
    private record Layer(Digest content, Digest location, long size) {}

    /// @param staging an empty directory, in which one layer at a time is compressed
    ImageArchive(OutputStream out, Path staging) {
        this.tar = new TarWriter(out);
        this.staging = staging;
    }

    /// Adds a layer on top of those before.
    void add(Path layer) throws IOException {
        var file = staging.resolve("layer.tar.gz");
        var compressed = Digest.begin();
        var plain = Digest.begin();
        try (var out = new BufferedOutputStream(Files.newOutputStream(file), BUFFER);
                var zipped = new Quick(new DigestOutputStream(out, compressed));
                var written = new BufferedOutputStream(new DigestOutputStream(zipped, plain), BUFFER)) {
            LayerPacker.write(layer, written);
        }
        var done = new Layer(Digest.finish(plain), Digest.finish(compressed), Files.size(file));
        boolean there = layers.stream().anyMatch(before -> before.location().equals(done.location()));
        layers.add(done);
        if (!there) {
            try (var in = Files.newInputStream(file)) {
                tar.file(header(BLOBS + done.location().hex()), done.size(), in);
            }
        }
        Files.delete(file);
    }

    /// Compression costs most of the time, and registries compress nothing again.
    private static final class Quick extends GZIPOutputStream {
        private Quick(OutputStream out) throws IOException {
            super(out, BUFFER);
            def.setLevel(Deflater.BEST_SPEED);
        }

        /// A large layer takes minutes, and nothing else in them would notice an interrupt.
        @Override
        public synchronized void write(byte[] bytes, int offset, int length) throws IOException {
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("the thread that packs a layer was interrupted");
            }
            super.write(bytes, offset, length);
        }
    }

    /// Ends the archive.
    ///
    /// @param config what programs of the image are run with, as in an image's configuration
    /// @param name   of the image, with its tag
    void finish(Map<String, Object> config, String name) throws IOException {
        byte[] whole = Json.write(new Configuration(
                Platform.ofHost().architecture(),
                "linux",
                config,
                new RootFiles(
                        "layers",
                        layers.stream().map(layer -> layer.content().toString()).toList())));
        byte[] manifest = Json.write(new Manifest(
                2,
                Manifests.OCI_MANIFEST,
                Part.of(OCI_CONFIG, whole),
                layers.stream()
                        .map(layer -> new Part(OCI_LAYER, layer.location(), layer.size(), null))
                        .toList()));
        put(BLOBS + Digest.of(whole).hex(), whole);
        put(BLOBS + Digest.of(manifest).hex(), manifest);
        put("oci-layout", Json.write(new Layout("1.0.0")));
        var named = Part.of(Manifests.OCI_MANIFEST, manifest).annotated(name);
        put("index.json", Json.write(new Index(2, Manifests.OCI_INDEX, List.of(named))));
        var places =
                layers.stream().map(layer -> BLOBS + layer.location().hex()).toList();
        put(
                "manifest.json",
                Json.write(List.of(new Loaded(BLOBS + Digest.of(whole).hex(), List.of(name), places))));
        tar.finish();
    }

    private record Configuration(String architecture, String os, Map<String, Object> config, RootFiles rootfs) {}

    private record RootFiles(
            String type, @JsonProperty("diff_ids") List<String> content) {}

    private record Manifest(int schemaVersion, String mediaType, Part config, List<Part> layers) {}

    private record Index(int schemaVersion, String mediaType, List<Part> manifests) {}

    private record Layout(String imageLayoutVersion) {}

    /// The list for `docker load`.
    private record Loaded(
            @JsonProperty("Config") String config,
            @JsonProperty("RepoTags") List<String> names,
            @JsonProperty("Layers") List<String> layers) {}

    /// An OCI descriptor.
    private record Part(
            String mediaType,
            String digest,
            long size,
            @Nullable Map<String, String> annotations) {
        private Part(String mediaType, Digest digest, long size, @Nullable Map<String, String> annotations) {
            this(mediaType, digest.toString(), size, annotations);
        }

        private static Part of(String mediaType, byte[] content) {
            return new Part(mediaType, Digest.of(content), content.length, null);
        }

        private Part annotated(String name) {
            var names = new TreeMap<String, String>();
            names.put("io.containerd.image.name", name);
            names.put("org.opencontainers.image.ref.name", name);
            return new Part(mediaType, digest, size, names);
        }
    }

    private void put(String name, byte[] content) throws IOException {
        tar.file(header(name), content.length, new ByteArrayInputStream(content));
    }

    private static TarWriter.Header header(String name) {
        return new TarWriter.Header(name, 0644, 0, 0, 0);
    }
}
