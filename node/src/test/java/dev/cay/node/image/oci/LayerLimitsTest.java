package dev.cay.node.image.oci;

import dev.cay.node.image.oci.TestTar.Header;
import dev.cay.testing.NeedsRoot;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// How much an archive may hold.
@NeedsRoot
final class LayerLimitsTest {
    @TempDir
    private Path directory;

    private TestLayers layers;

    @BeforeEach
    void begin() {
        layers = new TestLayers(directory);
    }

    @Test
    void limitsWhatAnArchiveMayHold() {
        layers.limit(new LayerLimits(1 << 20, 5, 250, 1 << 19, 4096, 512, Duration.ofMinutes(1)));
        layers.refuses(
                new TestTar().raw(Header.of("a", '0').size(1L << 40), new byte[0]), "the limit for a file is 524,288");
        layers.refuses(new TestTar().raw(Header.of("a", '0').size(Long.MAX_VALUE), new byte[0]), "limit for a file");
        byte[] some = new byte[400_000];
        layers.refuses(
                TestTar.gzip(new TestTar()
                        .add(Header.of("a", '0'), some)
                        .add(Header.of("b", '0'), some)
                        .add(Header.of("c", '0'), some)
                        .tar()),
                "more than 1,048,576 bytes");
        var many = new TestTar();
        for (int i = 0; i < 6; i++) {
            many.file("f" + i, "");
        }
        layers.refuses(many, "more than 5 entries");
        layers.refuses(
                new TestTar().add(Header.of("pax", 'x'), new byte[5000]).file("a", ""),
                "extended header of 5,000 bytes");
        layers.refuses(
                new TestTar().add(Header.of("long", 'L'), new byte[5000]).file("a", ""),
                "extended header of 5,000 bytes");
        layers.refuses(
                new TestTar()
                        .raw(Header.of("pax", 'x').size(1L << 33), new byte[0])
                        .file("a", ""),
                "extended header of 8,589,934,592 bytes");
        var headers = new TestTar();
        for (int i = 0; i < 20; i++) {
            headers.pax("comment", "x");
        }
        layers.refuses(headers.file("a", ""), "too many extended headers");
    }

    @Test
    void limitsHowFarLayersGrow() throws IOException {
        int size = 300 << 20;
        var bomb = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(bomb)) {
            gzip.write(new TestTar()
                    .raw(Header.of("zeros", '0').size(size), new byte[0])
                    .open());
            for (int i = 0; i < size >> 20; i++) {
                gzip.write(new byte[1 << 20]);
            }
        }

        layers.refuses(bomb.toByteArray(), "compressed more than 250 to one");
    }

    @Test
    void limitsTheTimeThatUnpackingTakes() {
        layers.limit(new LayerLimits(1 << 20, 100, 250, 1 << 20, 4096, 512, Duration.ZERO));
        layers.refuses(new TestTar().file("a", "x"), "could not be unpacked within");

        layers.limit(LayerLimits.DEFAULT);
        String deep = "d/".repeat(500);
        String round = "x/../".repeat(800);
        layers.refuses(
                new TestTar()
                        .pax("path", deep + "x/f")
                        .file("f", "")
                        .pax("path", deep + "a")
                        .add(Header.of("long", 'K'), TestTar.bytes(round + "b\0"))
                        .symlink("a", "")
                        .pax("path", deep + "b")
                        .add(Header.of("long", 'K'), TestTar.bytes(round + "c\0"))
                        .symlink("b", "")
                        .pax("path", deep + "c")
                        .add(Header.of("long", 'K'), TestTar.bytes(round + "a\0"))
                        .symlink("c", "")
                        .pax("path", deep + "a/f")
                        .file("f", ""),
                "round and round");
    }

    @Test
    void countsWhatHardLinksCopy() throws Exception {
        layers.below().add(layers.unpack(new TestTar().add(Header.of("big", '0'), new byte[100_000])));
        layers.limit(new LayerLimits(50_000, 100, 250, 1 << 20, 4096, 512, Duration.ofMinutes(1)));

        layers.refuses(new TestTar().link("name", "big"), "more than 50,000 bytes");
    }
}
