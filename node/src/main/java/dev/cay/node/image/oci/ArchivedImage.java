package dev.cay.node.image.oci;

import dev.cay.wire.CayException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// One image of an archive: of `docker save`, which has a list in `manifest.json`, or of an OCI layout with its
/// index.
final class ArchivedImage implements Manifests.Parts {
    private static final int LONGEST_DOCUMENT = 8 << 20;
    private static final String REF_NAME = "org.opencontainers.image.ref.name";
    private static final String IMAGE_NAME = "io.containerd.image.name";
    private static final int MOST_SHOWN = 20;

    private final ArchiveFiles files;
    private final @Nullable String name;
    private final List<String> dockerLayers = new ArrayList<>();

    /// @param name which image to take; null for the only one
    ArchivedImage(ArchiveFiles files, @Nullable String name) {
        this.files = files;
        this.name = name;
    }

    ImagePlan plan() throws IOException {
        byte[] docker = files.read("manifest.json", LONGEST_DOCUMENT);
        if (docker != null) {
            return dockerPlan(Manifests.parse(docker, "list of images"));
        }
        byte[] index = files.read("index.json", LONGEST_DOCUMENT);
        if (index == null) {
            throw BadImage.because("the archive holds no image: it has neither a manifest.json nor an index.json");
        }
        return layoutPlan(Manifests.parse(index, "index"), index);
    }

    private ImagePlan dockerPlan(JsonNode images) throws IOException {
        var image = choose(images, ArchivedImage::tags);
        String configName = image.path("Config").asString("");
        byte[] config = files.read(configName, LONGEST_DOCUMENT);
        if (config == null) {
            throw BadImage.because("the image archive has no configuration");
        }
        var layers = new ArrayList<Blob>();
        for (var layer : image.path("Layers")) {
            dockerLayers.add(layer.asString(""));
            // The digest of the compressed bytes is not known here. That of the uncompressed ones is checked.
            layers.add(new Blob("", Digest.of(""), 0));
        }
        return Manifests.plan(config, layers, Digest.of(config));
    }

    private static List<String> tags(JsonNode image) {
        var tags = new ArrayList<String>();
        image.path("RepoTags").forEach(tag -> tags.add(tag.asString("")));
        return tags;
    }

    private ImagePlan layoutPlan(JsonNode index, byte[] bytes) throws IOException {
        var manifests = new Manifests(this);
        boolean oneForEachMachine = name == null
                && index.path("manifests").size() > 1
                && index.path("manifests").valueStream().allMatch(each -> each.has("platform"));
        if (oneForEachMachine) {
            return manifests.plan(bytes, Manifests.OCI_INDEX);
        }
        var chosen = choose(index.path("manifests"), ArchivedImage::annotations);
        return manifests.plan(manifest(Blob.of(chosen)), Manifests.OCI_MANIFEST);
    }

    private static List<String> annotations(JsonNode manifest) {
        var annotations = manifest.path("annotations");
        return List.of(
                annotations.path(IMAGE_NAME).asString(""),
                annotations.path(REF_NAME).asString(""));
    }

    private interface Names {
        List<String> of(JsonNode image);
    }

    private JsonNode choose(JsonNode images, Names names) {
        if (name == null && images.size() == 1) {
            return images.path(0);
        }
        var known = new ArrayList<String>();
        for (var image : images) {
            var own = names.of(image).stream().filter(each -> !each.isEmpty()).toList();
            if (name != null && own.stream().anyMatch(this::isWanted)) {
                return image;
            }
            known.addAll(own);
        }
        String list = BadImage.shown(String.join(", ", known.subList(0, Math.min(MOST_SHOWN, known.size()))));
        throw BadImage.because(
                name == null
                        ? "the archive holds %d images; say which one: %s".formatted(images.size(), list)
                        : "the archive holds no image %s, but these: %s".formatted(BadImage.shown(name), list));
    }

    /// Names mean the same image with and without Docker's registry, and `latest` may be left out.
    private boolean isWanted(String known) {
        if (known.equals(name)) {
            return true;
        }
        try {
            return name != null && ImageReference.parse(known).equals(ImageReference.parse(name));
        } catch (CayException notNames) {
            return false;
        }
    }

    @Override
    public byte[] manifest(Blob blob) throws IOException {
        return document(blob);
    }

    @Override
    public byte[] config(Blob blob) throws IOException {
        return document(blob);
    }

    private byte[] document(Blob blob) throws IOException {
        byte[] bytes = files.read(place(blob), LONGEST_DOCUMENT);
        if (bytes == null || !Digest.of(bytes).equals(blob.digest())) {
            throw BadImage.because(
                    "the image archive does not have %s, or other bytes for it".formatted(blob.digest()));
        }
        return bytes;
    }

    private static String place(Blob blob) {
        return "blobs/sha256/" + blob.digest().hex();
    }

    /// The compressed layer. Its bytes are checked by the digest of what they unpack to.
    InputStream layer(ImagePlan plan, int index) throws IOException {
        return files.require(dockerLayers.isEmpty() ? place(plan.layers().get(index)) : dockerLayers.get(index));
    }
}
