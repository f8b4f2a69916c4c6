package dev.cay.node.image.oci;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.image.oci.TestTar.Header;
import dev.cay.testing.NeedsRoot;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Archives that try to get out of their layer, or that are broken.
@NeedsRoot
final class HostileLayerTest {
    @TempDir
    private Path directory;

    private TestLayers layers;

    @BeforeEach
    void begin() {
        layers = new TestLayers(directory);
    }

    @Test
    void staysBelowTheRoot() throws Exception {
        var outside = Files.createDirectory(directory.resolve("outside"));
        var root = layers.unpack(new TestTar()
                .file("../../up", "x")
                .file("/absolute", "x")
                .symlink("out", outside.toString())
                .file("out/file", "x")
                .symlink("more", "../../../../../../" + outside)
                .file("more/other", "x")
                .symlink("deep/back", "../../..")
                .file("deep/back/top", "x"));

        assertThat(outside).isEmptyDirectory();
        assertThat(root.resolve("up")).hasContent("x");
        assertThat(root.resolve("absolute")).hasContent("x");
        assertThat(root.resolve("top")).hasContent("x");
        assertThat(root.resolve(outside.toString().substring(1) + "/file")).hasContent("x");
        assertThat(root.resolve(outside.toString().substring(1) + "/other")).hasContent("x");
    }

    @Test
    void replacesLinksInsteadOfWritingThroughThem() throws Exception {
        var victim = Files.writeString(directory.resolve("victim"), "unharmed");
        var root = layers.unpack(new TestTar().symlink("a", victim.toString()).file("a", "mine"));

        assertThat(victim).hasContent("unharmed");
        assertThat(root.resolve("a")).hasContent("mine").isRegularFile();
        assertThat(root.resolve("a")).isNotEqualTo(victim);
    }

    @Test
    void neverOpensAFifo() throws Exception {
        var root = layers.unpack(new TestTar()
                .add(Header.of("a", '6'), new byte[0])
                .link("b", "a")
                .file("a", "file now"));

        assertThat(TestLayers.list(root)).contains("a f 644").contains("b p 644");
    }

    @Test
    void refusesWhatNoImageNeeds() {
        layers.refuses(new TestTar().device("x", '3', 0, 0), "device 0:0");
        layers.refuses(new TestTar().device("x", '4', 0, 0), "device 0:0");
        layers.refuses(new TestTar().link("x", "../../etc/shadow"), "leads out");
        layers.refuses(new TestTar().link("x", "none"), "\"none\", which does not exist");
        layers.refuses(new TestTar().link("x", "x"), "does not exist");
        layers.refuses(new TestTar().directory("d").link("x", "d"), "link to a directory");
        layers.refuses(new TestTar().link("x", "/"), "link to a directory");
        layers.refuses(new TestTar().file("f", "x").file("f/g", "x"), "no directory");
        layers.refuses(new TestTar().symlink("a", "b").symlink("b", "a").file("a/x", "x"), "too many symbolic links");
        layers.refuses(new TestTar().file("old/", "x").symlink("./", "x"), "must be a directory");
        layers.refuses(
                new TestTar().add(Header.of("big", '0').owner(65_536, 0), new byte[0]),
                "\"big\" belongs to user 65536");
        layers.refuses(new TestTar().add(Header.of("big", '0').owner(0, 1 << 30), new byte[0]), "\"big\" belongs to");
        layers.refuses(new TestTar().pax("uid", "4294967296").file("big", "x"), "belongs to user 4294967296");
        layers.refuses(new TestTar().add(Header.of("odd", 'Z'), new byte[0]), "of a type that images do not have");
        layers.refuses(
                new TestTar().file("a\nb\u001b[31m", "x").device("a\nb\u001b[31m", '3', 0, 0),
                "\"a\\u000ab\\u001b[31m\"");
    }

    @Test
    void refusesAttributesThatOverlayfsWouldRead() {
        layers.refuses(
                new TestTar().pax("SCHILY.xattr.trusted.overlay.opaque", "y").directory("d"), "trusted.overlay.opaque");
        layers.refuses(new TestTar().pax("SCHILY.xattr.trusted.x", "y").file("d", ""), "trusted.x");
        layers.refuses(
                new TestTar().pax("SCHILY.xattr.user.overlay.whiteout", "y").file("d", ""), "user.overlay.whiteout");
    }

    @Test
    void refusesArchivesThatAreBroken() {
        byte[] good = new TestTar().file("a", "content").tar();
        good[5] = 'x';
        layers.refuses(good, "wrong checksum");
        layers.refuses(
                new TestTar()
                        .raw(Header.of("a", '0').size(5000), TestTar.bytes("short"))
                        .open(),
                "cut off");
        layers.refuses(new TestTar().bytes(new byte[] {1, 2, 3}).open(), "cut off");
        layers.refuses(Arrays.copyOf(TestTar.gzip(good), 60), "cut off");
        layers.refuses(Arrays.copyOf(TestTar.gzip(good), 6), "cut off");
        layers.refuses(new byte[] {0x1f, (byte) 0x8b, 7, 0, 0, 0, 0, 0, 0, 0}, "damaged or cut off");
        layers.refuses(Arrays.copyOf(TestTar.zstd(good), 40), "damaged");
        layers.refuses(
                new TestTar()
                        .add(Header.of("pax", 'x'), TestTar.bytes("9999 path=x\n"))
                        .file("a", ""),
                "broken extended");
        layers.refuses(
                new TestTar()
                        .add(Header.of("pax", 'x'), TestTar.bytes("nonsense"))
                        .file("a", ""),
                "broken extended");
        layers.refuses(new TestTar().raw(Header.of("a", '0').size(-1), new byte[0]), "negative size");
    }

    @Test
    void refusesNamesThatAreNone() {
        layers.refuses(new TestTar().pax("path", "a\0b").file("a", ""), "NUL byte");
        layers.refuses(new TestTar().file("", ""), "empty name");
        layers.refuses(new TestTar().pax("path", "x".repeat(256)).file("a", ""), "more than 255 bytes");
        layers.refuses(new TestTar().pax("path", "x/".repeat(2500)).file("a", ""), "more than 4,095 bytes");
        layers.refuses(new TestTar().pax("path", "x/".repeat(600) + "f").file("a", ""), "512 directories deep");
        layers.refuses(new TestTar().symlink("s", ""), "could not be written");
    }

    @Test
    void refusesMapsOfHolesThatLie() {
        layers.refuses(sparse("5,5,0,5", "20", 10), "broken map");
        layers.refuses(sparse("0,5,100,5", "20", 10), "broken map");
        layers.refuses(sparse("0,5,5", "20", 10), "broken extended header");
        layers.refuses(sparse("0,4", "20", 10), "does not fit");
        layers.refuses(sparse("0,10", "9223372036854775807", 10), "broken extended header");
        layers.refuses(sparse("0,10", "999999999999999999", 10), "limit for a file");
    }

    private static TestTar sparse(String map, String size, int stored) {
        return new TestTar()
                .pax(Map.of("GNU.sparse.map", TestTar.bytes(map), "GNU.sparse.size", TestTar.bytes(size)))
                .add(Header.of("holes", '0'), new byte[stored]);
    }
}
