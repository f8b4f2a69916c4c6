package dev.cay.node.image.oci;

import dev.cay.http.Json;
import dev.cay.life.WholeFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;

/// A directory with images, byte by byte as registries have them: an OCI layout, whose index has their names. Images
/// share equal blobs.
final class ImageLayout {
    private static final String NAME = "org.opencontainers.image.ref.name";

    private final Path directory;
    private final Path blobs;

    ImageLayout(Path directory) {
        this.directory = directory;
        this.blobs = directory.resolve("blobs/sha256");
    }

    /// Makes what fetches the layers of an image.
    interface Source {
        Downloads of(ImagePlan plan) throws IOException;
    }

    /// Downloads the missing parts. The image gets its name when it is complete.
    Digest add(ImageReference reference, RegistryImage image, Source layers) throws IOException {
        Files.createDirectories(blobs);
        var documents = new Documents(image);
        var root = image.root();
        documents.put(root.bytes());
        var plan = new Manifests(documents).plan(root.bytes(), root.mediaType());
        var missing = IntStream.range(0, plan.layers().size())
                .filter(index -> !Files.exists(place(plan.layers().get(index).digest())))
                .boxed()
                .toList();
        try (var downloads = layers.of(plan)) {
            downloads.start(missing);
            for (int index : missing) {
                var unfinished = Files.createTempFile(blobs, "new-", "");
                try (var in = downloads.open(index)) {
                    Files.copy(in, unfinished, StandardCopyOption.REPLACE_EXISTING);
                    Files.move(
                            unfinished,
                            place(plan.layers().get(index).digest()),
                            StandardCopyOption.ATOMIC_MOVE,
                            StandardCopyOption.REPLACE_EXISTING);
                } finally {
                    Files.deleteIfExists(unfinished);
                }
            }
        }
        byte[] manifest = documents.get(plan.digest());
        var json = Manifests.parse(manifest, "manifest");
        var config = Blob.of(json.path("config")).digest();
        Files.write(place(plan.digest()), manifest);
        Files.write(place(config), documents.get(config));
        name(reference, plan.digest(), manifest.length, json.path("mediaType").asString(Manifests.OCI_MANIFEST));
        return plan.digest();
    }

    private Path place(Digest digest) {
        return blobs.resolve(digest.hex());
    }

    private void name(ImageReference reference, Digest digest, int size, String mediaType) throws IOException {
        var index = Json.mapper().createObjectNode().put("schemaVersion", 2).put("mediaType", Manifests.OCI_INDEX);
        var manifests = index.putArray("manifests");
        for (var known : named()) {
            if (!nameOf(known).equals(reference.toString())) {
                manifests.add(known);
            }
        }
        manifests
                .addObject()
                .put("mediaType", mediaType)
                .put("digest", digest.toString())
                .put("size", size)
                .putObject("annotations")
                .put(NAME, reference.toString());
        Files.write(directory.resolve("oci-layout"), Json.write(Map.of("imageLayoutVersion", "1.0.0")));
        WholeFile.write(directory.resolve("index.json"), Json.write(index));
    }

    private List<JsonNode> named() throws IOException {
        var file = directory.resolve("index.json");
        if (!Files.exists(file)) {
            return List.of();
        }
        return Manifests.parse(Files.readAllBytes(file), "index").path("manifests") instanceof ArrayNode list
                ? list.valueStream().toList()
                : List.of();
    }

    private static String nameOf(JsonNode manifest) {
        return manifest.path("annotations").path(NAME).asString("");
    }

    /// Names of the images that are in it.
    List<String> names() throws IOException {
        var names = new ArrayList<String>();
        named().forEach(manifest -> names.add(nameOf(manifest)));
        return names;
    }

    /// Records the documents that were read.
    private static final class Documents implements Manifests.Parts {
        private final RegistryImage image;
        private final Map<Digest, byte[]> known = new HashMap<>();

        Documents(RegistryImage image) {
            this.image = image;
        }

        private byte[] put(byte[] bytes) {
            known.put(Digest.of(bytes), bytes);
            return bytes;
        }

        byte[] get(Digest digest) throws IOException {
            byte[] bytes = known.get(digest);
            if (bytes == null) {
                throw new IOException("the registry did not send " + digest);
            }
            return bytes;
        }

        @Override
        public byte[] manifest(Blob blob) throws IOException {
            return put(image.manifest(blob));
        }

        @Override
        public byte[] config(Blob blob) throws IOException {
            return put(image.config(blob));
        }
    }
}
