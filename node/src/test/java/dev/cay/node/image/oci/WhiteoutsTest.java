package dev.cay.node.image.oci;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.NeedsRoot;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Entries of a layer that hide what the layers below have, checked against what overlayfs shows.
@NeedsRoot
final class WhiteoutsTest {
    @TempDir
    private Path directory;

    private TestLayers layers;

    @BeforeEach
    void begin() {
        layers = new TestLayers(directory);
    }

    @Test
    void turnsWhiteoutsIntoThoseOfOverlayfs() throws Exception {
        layers.below()
                .add(layers.unpack(
                        new TestTar().file("gone", "x").file("dir/old", "x").file("kept/file", "x")));

        var root = layers.unpack(
                new TestTar().file(".wh.gone", "").file("dir/.wh..wh..opq", "").file("kept/.wh.file", ""));

        assertThat(TestLayers.list(root)).isEqualTo("""
                 d 755 0:0\s
                dir d 755 0:0\s
                gone c 0 0:0\s
                kept d 755 0:0\s
                kept/file c 0 0:0\s""");
        assertThat(TestLayers.opaque(root, "dir")).isTrue();
        assertThat(TestLayers.opaque(root, "kept")).isFalse();
        assertThat(layers.merged(root)).isEqualTo("\ndir\nkept");
    }

    @Test
    void neverHidesWhatTheSameLayerHas() throws Exception {
        layers.below()
                .add(layers.unpack(new TestTar()
                        .file("dir/old", "x")
                        .file("other/old", "x")
                        .file("file", "x")));

        var root = layers.unpack(new TestTar()
                .file("dir/new", "y")
                .file(".wh.dir", "")
                .file(".wh.other", "")
                .directory("other")
                .file("file", "y")
                .file(".wh.file", ""));

        assertThat(layers.merged(root)).isEqualTo("\ndir\ndir/new\nfile\nother");
        assertThat(root.resolve("file")).hasContent("y");
    }

    /// The kernel lists the name of a whiteout in a directory that it does not merge.
    @Test
    void makesNoWhiteoutsThatHideNothing() throws Exception {
        layers.below()
                .add(layers.unpack(
                        new TestTar().file("old/dir/x", "x").file("old/y", "x").file("file/x", "x")));

        var root = layers.unpack(new TestTar()
                .directory("new")
                .file("new/.wh.x", "")
                .file("file", "file now")
                .file("file/.wh.x", "")
                .file("file/.wh..wh..opq", "")
                .file("none/.wh.x", "")
                .file("old/.wh.none", "")
                .file("old/dir/.wh.x", "")
                .file("old/.wh.y", "")
                .file("old/.wh..wh..opq", ""));

        assertThat(TestLayers.find(root, "%P %y\\n").lines())
                .containsExactlyInAnyOrder(" d", "file f", "new d", "old d", "old/dir d");
        assertThat(layers.merged(root)).isEqualTo("\nfile\nnew\nold\nold/dir");
    }

    @Test
    void hidesAllBelowAnOpaqueRoot() throws Exception {
        layers.below().add(layers.unpack(new TestTar().file("a/x", "x").file("b", "x")));
        layers.below().add(0, layers.unpack(new TestTar().file("c", "x")));

        var root = layers.unpack(
                new TestTar().file("a/y", "y").file(".wh..wh..opq", "").file("d", "y"));

        assertThat(layers.merged(root)).isEqualTo("\na\na/y\nd");
    }

    @Test
    void refusesWhiteoutsThatNameNothing() {
        layers.refuses(new TestTar().file(".wh.", ""), "whiteout of no name");
        layers.refuses(new TestTar().file(".wh..", ""), "whiteout of no name");
        layers.refuses(new TestTar().file("a/.wh...", ""), "whiteout of no name");
        layers.refuses(new TestTar().file(".wh.a/b", ""), "below a whiteout");
        layers.refuses(new TestTar().file(".wh..wh..opq/b", ""), "below a whiteout");
        layers.refuses(new TestTar().directory(".wh.a"), "must be a file");
        layers.refuses(new TestTar().symlink(".wh.a", "b"), "must be a file");
    }
}
