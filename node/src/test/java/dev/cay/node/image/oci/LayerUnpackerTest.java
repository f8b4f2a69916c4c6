package dev.cay.node.image.oci;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.image.oci.TestTar.Header;
import dev.cay.node.linux.Attributes;
import dev.cay.node.linux.FileCalls;
import dev.cay.testing.NeedsRoot;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a layer has once an archive is unpacked. Needs root, as layers have owners, devices and attributes that only
/// root may set.
@NeedsRoot
final class LayerUnpackerTest {
    @TempDir
    private Path directory;

    private TestLayers layers;

    @BeforeEach
    void begin() {
        layers = new TestLayers(directory);
    }

    @Test
    void keepsWhatFilesAre() throws Exception {
        var root = layers.unpack(new TestTar()
                .add(Header.of("./", '5').mode(0750).owner(1, 2), new byte[0])
                .directory("bin/")
                .add(Header.of("bin/su", '0').mode(06755).owner(0, 8), TestTar.bytes("su"))
                .add(Header.of("home", '5').mode(01777).owner(1000, 1000), new byte[0])
                .symlink("sh", "/bin/su")
                .link("bin/also", "bin/su")
                .add(Header.of("pipe", '6').mode(0622), new byte[0])
                .device("null", '3', 1, 3));

        assertThat(TestLayers.list(root)).isEqualTo("""
                 d 750 1:2\s
                bin d 755 0:0\s
                bin/also f 6755 0:8\s
                bin/su f 6755 0:8\s
                home d 1777 1000:1000\s
                null c 644 0:0\s
                pipe p 622 0:0\s
                sh l 777 0:0 /bin/su""");
        assertThat(root.resolve("bin/also")).hasContent("su");
        assertThat(TestLayers.find(root, "%P %T@\\n").lines())
                .allMatch(line -> line.endsWith(" 1700000000.0000000000"));
        assertThat(TestLayers.find(root.resolve("bin/su"), "%i"))
                .isEqualTo(TestLayers.find(root.resolve("bin/also"), "%i"));
    }

    @Test
    void readsGzipAndZstdAndKnowsTheDigestOfTheArchive() throws Exception {
        var tar = new TestTar().file("a", "one").tar();
        for (byte[] layer : List.of(tar, TestTar.gzip(tar), TestTar.zstd(tar))) {
            var root = layers.fresh();
            var unpacked = layers.unpack(layer, root);
            assertThat(unpacked.diffId()).isEqualTo(Digest.of(tar));
            assertThat(root.resolve("a")).hasContent("one");
        }
    }

    @Test
    void readsSeveralMembersOfGzipAsOne() throws Exception {
        byte[] tar = new TestTar().file("a", "one").tar();
        var members = new ByteArrayOutputStream();
        members.writeBytes(TestTar.gzip(Arrays.copyOf(tar, 700)));
        members.writeBytes(TestTar.gzip(Arrays.copyOfRange(tar, 700, tar.length)));

        assertThat(layers.unpack(members.toByteArray(), layers.fresh()).diffId())
                .isEqualTo(Digest.of(tar));
    }

    @Test
    void keepsCapabilitiesAndAttributesOfUsersOnly() throws Exception {
        byte[] capability = {1, 0, 0, 2, (byte) 0x80, (byte) 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
        byte[] binary = {(byte) 0xff, 0, (byte) 0xfe, '\n', '='};
        var root = layers.unpack(new TestTar()
                .pax(Map.of(
                        "SCHILY.xattr.security.capability",
                        capability,
                        "SCHILY.xattr.user.mine",
                        binary,
                        "SCHILY.xattr.security.selinux",
                        TestTar.bytes("label")))
                .file("ping", "x"));

        try (var open = FileCalls.open(root.toString(), FileCalls.DIRECTORY, 0)) {
            assertThat(Attributes.names(open, "ping")).containsExactlyInAnyOrder("security.capability", "user.mine");
            assertThat(Attributes.readBytes(open, "ping", "user.mine")).isEqualTo(binary);
            assertThat(Attributes.readBytes(open, "ping", "security.capability"))
                    .isEqualTo(capability);
        }
    }

    @Test
    void takesMissingDirectoriesFromTheLayersBelow() throws Exception {
        layers.below()
                .add(layers.unpack(new TestTar()
                        .add(Header.of("./", '5').mode(0711).owner(3, 3), new byte[0])
                        .add(Header.of("home", '5').mode(0700).owner(1000, 100).modified(1_600_000_000), new byte[0])
                        .directory("usr/lib")
                        .symlink("lib", "usr/lib")));

        var root = layers.unpack(
                new TestTar().file("home/file", "x").file("lib/so", "x").file("new/file", "x"));

        assertThat(TestLayers.list(root)).isEqualTo("""
                 d 711 3:3\s
                home d 700 1000:100\s
                home/file f 644 0:0\s
                new d 755 0:0\s
                new/file f 644 0:0\s
                usr d 755 0:0\s
                usr/lib d 755 0:0\s
                usr/lib/so f 644 0:0\s""");
        assertThat(TestLayers.find(root.resolve("home"), "%T@ ")).startsWith("1600000000.");
    }

    @Test
    void copiesTheTargetOfAHardLinkFromTheLayersBelow() throws Exception {
        layers.below()
                .add(layers.unpack(new TestTar()
                        .pax("SCHILY.xattr.user.mine", "v")
                        .add(Header.of("bin/tool", '0').mode(04711).owner(5, 6), TestTar.bytes("tool"))));
        layers.below().add(0, layers.unpack(new TestTar().file("other", "x")));

        var root = layers.unpack(new TestTar().link("bin/name", "/bin/tool"));

        assertThat(TestLayers.list(root)).isEqualTo("""
                 d 755 0:0\s
                bin d 755 0:0\s
                bin/name f 4711 5:6\s
                bin/tool f 4711 5:6\s""");
        assertThat(TestLayers.find(root.resolve("bin/name"), "%i"))
                .isEqualTo(TestLayers.find(root.resolve("bin/tool"), "%i"));
        assertThat(root.resolve("bin/name")).hasContent("tool");
        assertThat(Files.getAttribute(root.resolve("bin/name"), "unix:nlink")).isEqualTo(2);
    }

    @Test
    void letsTheLastOfSeveralEntriesWin() throws Exception {
        layers.below().add(layers.unpack(new TestTar().file("c/below", "x")));

        var root = layers.unpack(new TestTar()
                .file("a", "one")
                .file("a", "two")
                .file("b/x/y", "one")
                .file("b", "file now")
                .file("c", "file")
                .directory("c")
                .symlink("d", "a")
                .file("d", "no link")
                .directory("e")
                .symlink("e", "/tmp"));

        assertThat(layers.merged(root)).isEqualTo("\na\nb\nc\nd\ne");
        assertThat(root.resolve("a")).hasContent("two");
        assertThat(root.resolve("b")).hasContent("file now");
        assertThat(root.resolve("d")).hasContent("no link");
        assertThat(root.resolve("e")).isSymbolicLink();
    }

    @Test
    void leavesOutDevicesThatSandboxesHaveNoUseFor() throws Exception {
        var root = layers.fresh();
        var unpacked = layers.unpack(
                new TestTar()
                        .device("dev/sda", '4', 8, 0)
                        .device("dev/mem", '3', 1, 1)
                        .file("f", "x")
                        .tar(),
                root);

        assertThat(unpacked.skipped()).containsExactly("dev/sda", "dev/mem");
        assertThat(root.resolve("dev")).doesNotExist();
        assertThat(root.resolve("f")).exists();
    }

    @Test
    void keepsNamesOfAllKinds() throws Exception {
        byte[] latin = {'c', 'a', 'f', (byte) 0xe9};
        String big = "d/".repeat(80) + "file";
        var root = layers.unpack(new TestTar()
                .add(Header.of("", '0').name(latin), TestTar.bytes("1"))
                .pax(Map.of("path", new byte[] {'p', (byte) 0xff}))
                .file("short", "2")
                .file("with\nnewline", "3")
                .add(Header.of("long", 'L'), TestTar.bytes(big + "\0"))
                .file("cut", "4")
                .add(Header.of("long", 'K'), TestTar.bytes("t".repeat(300) + "\0"))
                .symlink("s", "cut")
                .file("žluťoučký", "5"));

        try (var open = FileCalls.open(root.toString(), FileCalls.DIRECTORY, 0)) {
            assertThat(FileCalls.names(open, 100))
                    .containsExactlyInAnyOrder("caf\udce9", "p\udcff", "with\nnewline", "d", "s", "žluťoučký");
        }
        assertThat(root.resolve(big)).hasContent("4");
        assertThat(Files.readSymbolicLink(root.resolve("s"))).hasToString("t".repeat(300));
    }

    /// By archives of another program.
    @Test
    void readsSparseFilesOfGnuTarInAllItsForms() throws Exception {
        var source = Files.createDirectory(directory.resolve("source"));
        TestLayers.run(
                "sh",
                "-c",
                "cd " + source + " && truncate -s 50M holes && for i in $(seq 1 40); do printf block$i |"
                        + " dd of=holes bs=1M seek=$i conv=notrunc status=none; done; truncate -s 1M empty; echo plain > plain");
        for (String form :
                List.of("--format=gnu", "--sparse-version=0.0", "--sparse-version=0.1", "--sparse-version=1.0")) {
            var tar = directory.resolve("sparse.tar");
            String format = form.startsWith("--format") ? form : "--format=pax";
            TestLayers.run("tar", "-C", source.toString(), "-S", format, form, "-cf", tar.toString(), ".");
            assertThat(Files.size(tar)).isLessThan(2 << 20);

            var root = layers.fresh();
            layers.unpack(Files.readAllBytes(tar), root);

            for (String name : List.of("holes", "empty", "plain")) {
                assertThat(Files.mismatch(root.resolve(name), source.resolve(name)))
                        .as(form + name)
                        .isEqualTo(-1);
            }
            assertThat(Long.parseLong(TestLayers.find(root.resolve("holes"), "%b")))
                    .isLessThan(4096);
        }
    }

    @Test
    void unpacksManyFilesOverManyLayers() throws Exception {
        for (int i = 0; i < 126; i++) {
            layers.below().add(0, layers.unpack(new TestTar().file("shared/deep/dir/f" + i, "x")));
        }
        var root =
                layers.unpack(new TestTar().file("shared/deep/dir/f126", "x").link("shared/l", "shared/deep/dir/f0"));

        assertThat(root.resolve("shared/l")).hasContent("x");
        assertThat(Files.list(Path.of("/proc/self/fd")).count()).isLessThan(400);
    }
}
