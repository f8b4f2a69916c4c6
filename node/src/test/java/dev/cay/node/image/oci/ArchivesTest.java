package dev.cay.node.image.oci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.http.Json;
import dev.cay.node.image.LayerStore;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Images out of files. Needs root, as layers are unpacked.
@NeedsRoot
final class ArchivesTest {
    private final TestImage image = new TestImage()
            .layer(new TestTar().file("base", "1"))
            .layer(new TestTar().file("top", "2"))
            .set("User", "me");
    private final TestImage another = new TestImage().layer(new TestTar().file("top", "another"));

    @TempDir
    private Path directory;

    private LayerStore layers;

    @BeforeEach
    void makeStore() {
        layers = new LayerStore(directory.resolve("cache"));
    }

    @Test
    void loadsWhatDockerSaves() throws Exception {
        var loaded = load(write(docker(Map.of("app:v1", image)).tar()), null);

        assertThat(loaded.config().user()).isEqualTo("me");
        assertThat(loaded.layerKeys()).hasSize(2);
        assertThat(top(loaded)).hasContent("2");
        assertThat(loaded.digest()).isEqualTo(Digest.of(image.config()));
    }

    @Test
    void loadsArchivesThatAreCompressed() throws Exception {
        byte[] tar = docker(Map.of("app:v1", image)).tar();

        assertThat(top(load(write(TestTar.gzip(tar)), null))).hasContent("2");
        assertThat(top(load(write(TestTar.zstd(tar)), null))).hasContent("2");
        assertThat(directory.resolve("cache/images/staging")).isEmptyDirectory();
    }

    @Test
    void choosesAnImageByName() throws Exception {
        var images = new LinkedHashMap<String, TestImage>();
        images.put("app:v1", image);
        images.put("host.example/other:latest", another);
        var archive = write(docker(images).tar());

        assertThat(top(load(archive, "docker.io/library/app:v1"))).hasContent("2");
        assertThat(top(load(archive, "host.example/other"))).hasContent("another");
        refuses(archive, null, "holds 2 images; say which one: \"app:v1, host.example/other:latest\"");
        refuses(archive, "none", "holds no image \"none\"");
    }

    @Test
    void followsLinksOfOlderArchives() throws Exception {
        byte[] config = image.config();
        var tar = new TestTar()
                .file("one/layer.tar", "")
                .add(TestTar.Header.of("two/layer.tar", '0'), image.layers.get(1))
                .symlink("three/layer.tar", "../four/layer.tar")
                .add(TestTar.Header.of("four/layer.tar", '0'), image.layers.get(0))
                .add(TestTar.Header.of("c.json", '0'), config)
                .add(
                        TestTar.Header.of("manifest.json", '0'),
                        Json.write(List.of(
                                Map.of("Config", "c.json", "Layers", List.of("three/layer.tar", "two/layer.tar")))));

        assertThat(top(load(write(tar.tar()), null))).hasContent("2");
    }

    @Test
    void loadsOciLayoutsAsFilesAndDirectories() throws Exception {
        var files = layout(Map.of("v1", image));
        var tar = new TestTar();
        files.forEach((name, bytes) -> tar.add(TestTar.Header.of(name, '0'), bytes));
        var place = Files.createDirectory(directory.resolve("layout"));
        for (var file : files.entrySet()) {
            Files.createDirectories(place.resolve(file.getKey()).getParent());
            Files.write(place.resolve(file.getKey()), file.getValue());
        }

        assertThat(load(write(tar.tar()), null).digest()).isEqualTo(Digest.of(image.manifest()));
        assertThat(top(load(place, "v1"))).hasContent("2");
        refuses(place, "v2", "holds no image \"v2\", but these: \"v1\"");
    }

    @Test
    void refusesArchivesThatLie() throws Exception {
        refuses(directory.resolve("nowhere"), null, "no image archive");
        refuses(write(new TestTar().file("a", "x").tar()), null, "neither a manifest.json nor an index.json");
        refuses(write(TestTar.bytes("no tar at all".repeat(100))), null, "no tar archive");
        for (String name : List.of("../../../etc/passwd", "/etc/passwd", "a/../b", "", "a\u0000b")) {
            var list = Json.write(List.of(Map.of("Config", name, "Layers", List.of("x"))));
            refuses(
                    write(new TestTar()
                            .add(TestTar.Header.of("manifest.json", '0'), list)
                            .tar()),
                    null,
                    "cannot be there");
        }
        var files = new LinkedHashMap<>(layout(Map.of("v1", image)));
        files.put("blobs/sha256/" + Digest.of(image.config()).hex(), another.config());
        var tar = new TestTar();
        files.forEach((name, bytes) -> tar.add(TestTar.Header.of(name, '0'), bytes));
        refuses(write(tar.tar()), null, "or other bytes for it");
        image.layers.set(0, another.layers.getFirst());
        refuses(write(docker(Map.of("app:v1", image)).tar()), null, "when unpacked, and its configuration says");
    }

    private static TestTar docker(Map<String, TestImage> images) {
        var tar = new TestTar();
        var list = new ArrayList<Map<String, Object>>();
        images.forEach((name, image) -> {
            String config = Digest.of(image.config()).hex() + ".json";
            tar.add(TestTar.Header.of(config, '0'), image.config());
            var names = new ArrayList<String>();
            for (byte[] layer : image.layers) {
                names.add(Digest.of(layer).hex() + "/layer.tar");
                tar.add(TestTar.Header.of(names.getLast(), '0'), layer);
            }
            list.add(Map.of("Config", config, "RepoTags", List.of(name), "Layers", names));
        });
        return tar.add(TestTar.Header.of("manifest.json", '0'), Json.write(list));
    }

    private static Map<String, byte[]> layout(Map<String, TestImage> images) {
        var files = new LinkedHashMap<String, byte[]>();
        files.put("oci-layout", TestTar.bytes("{\"imageLayoutVersion\": \"1.0.0\"}"));
        var manifests = new ArrayList<Map<String, Object>>();
        images.forEach((name, image) -> {
            var parts = new ArrayList<>(image.layers);
            parts.add(image.config());
            parts.add(image.manifest());
            parts.forEach(part -> files.put("blobs/sha256/" + Digest.of(part).hex(), part));
            var entry = new LinkedHashMap<>(TestImage.blob(Manifests.OCI_MANIFEST, image.manifest()));
            entry.put("annotations", Map.of("org.opencontainers.image.ref.name", name));
            manifests.add(entry);
        });
        files.put("index.json", Json.write(Map.of("schemaVersion", 2, "manifests", manifests)));
        return files;
    }

    private Path write(byte[] archive) throws IOException {
        return Files.write(Files.createTempFile(directory, "archive", ""), archive);
    }

    private PulledImage load(Path archive, String name) {
        var settings = RegistrySettings.DEFAULT;
        try (var images = new Images(
                layers, directory.resolve("cache"), settings, LayerLimits.DEFAULT, Images.client(settings)::build)) {
            return images.load(archive, name, (_, _, _) -> {});
        }
    }

    private Path top(PulledImage image) {
        return layers.require(image.layerKeys().getFirst()).resolve("top");
    }

    private void refuses(Path archive, String name, String reason) {
        assertThatThrownBy(() -> load(archive, name))
                .isInstanceOf(CayException.class)
                .hasMessageContaining(reason);
    }
}
