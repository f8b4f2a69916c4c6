package dev.cay.node.image.oci;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.host.Programs;
import dev.cay.node.linux.FileCalls;
import dev.cay.wire.CayException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Layers of a test: unpacks archives over those that are there, and tells what came of it.
final class TestLayers {
    private final Path directory;
    private final List<Path> below = new ArrayList<>();
    private LayerLimits limits = LayerLimits.DEFAULT;

    /// @param directory where the layers are made
    TestLayers(Path directory) {
        this.directory = directory;
    }

    /// Roots of the layers that the next one lies over, the topmost first.
    List<Path> below() {
        return below;
    }

    void limit(LayerLimits other) {
        limits = other;
    }

    Path unpack(TestTar tar) throws IOException {
        var root = fresh();
        unpack(tar.gzip(), root);
        return root;
    }

    LayerUnpacker.Unpacked unpack(byte[] layer, Path root) throws IOException {
        return new LayerUnpacker(limits).unpack(new ByteArrayInputStream(layer), root, below);
    }

    Path fresh() throws IOException {
        var root = Files.createTempDirectory(directory, "layer");
        Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxr-xr-x"));
        return root;
    }

    void refuses(TestTar tar, String reason) {
        refuses(tar.tar(), reason);
    }

    void refuses(byte[] layer, String reason) {
        assertThatThrownBy(() -> unpack(layer, fresh()))
                .isInstanceOf(CayException.class)
                .hasMessageContaining(reason);
    }

    static String list(Path root) {
        return find(root, "%P %y %m %U:%G %l\\n")
                .lines()
                .sorted()
                .reduce((a, b) -> a + "\n" + b)
                .orElse("");
    }

    static boolean opaque(Path root, String name) throws IOException {
        try (var open = FileCalls.open(root.resolve(name).toString(), FileCalls.DIRECTORY, 0)) {
            return MergedDirectory.opaque(open);
        }
    }

    /// Paths that the kernel shows of the layer over those below.
    String merged(Path root) throws IOException {
        var layers = new ArrayList<>(List.of(root.toString()));
        below.forEach(layer -> layers.add(layer.toString()));
        if (layers.size() == 1) {
            layers.add(fresh().toString());
        }
        var mount = Files.createTempDirectory(directory, "mount");
        run("mount", "-t", "overlay", "overlay", "-o", "lowerdir=" + String.join(":", layers), mount.toString());
        try {
            return find(mount, "%P\\n")
                    .lines()
                    .sorted()
                    .reduce((a, b) -> a + "\n" + b)
                    .orElse("");
        } finally {
            run("umount", mount.toString());
        }
    }

    static String find(Path root, String format) {
        return run("find", root.toString(), "-printf", format);
    }

    static String run(String... command) {
        return Programs.ofHost().require(Duration.ofSeconds(60), command);
    }
}
