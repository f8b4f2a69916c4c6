package dev.cay.node.image.oci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.host.Programs;
import dev.cay.node.image.oci.TestTar.Header;
import dev.cay.node.linux.Attributes;
import dev.cay.node.linux.FileCalls;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Needs root, as layers have owners, devices and attributes that only root may set.
@NeedsRoot
final class LayerUnpackerTest {
    @TempDir
    private Path directory;

    private final List<Path> below = new ArrayList<>();
    private LayerLimits limits = LayerLimits.DEFAULT;

    @Test
    void keepsWhatFilesAre() throws Exception {
        var root = unpack(new TestTar()
                .add(Header.of("./", '5').mode(0750).owner(1, 2), new byte[0])
                .directory("bin/")
                .add(Header.of("bin/su", '0').mode(06755).owner(0, 8), TestTar.bytes("su"))
                .add(Header.of("home", '5').mode(01777).owner(1000, 1000), new byte[0])
                .symlink("sh", "/bin/su")
                .link("bin/also", "bin/su")
                .add(Header.of("pipe", '6').mode(0622), new byte[0])
                .device("null", '3', 1, 3));

        assertThat(list(root)).isEqualTo("""
                 d 750 1:2\s
                bin d 755 0:0\s
                bin/also f 6755 0:8\s
                bin/su f 6755 0:8\s
                home d 1777 1000:1000\s
                null c 644 0:0\s
                pipe p 622 0:0\s
                sh l 777 0:0 /bin/su""");
        assertThat(root.resolve("bin/also")).hasContent("su");
        assertThat(find(root, "%P %T@\\n").lines()).allMatch(line -> line.endsWith(" 1700000000.0000000000"));
        assertThat(find(root.resolve("bin/su"), "%i")).isEqualTo(find(root.resolve("bin/also"), "%i"));
    }

    @Test
    void readsGzipAndZstdAndKnowsTheDigestOfTheArchive() throws Exception {
        var tar = new TestTar().file("a", "one").tar();
        for (byte[] layer : List.of(tar, TestTar.gzip(tar), TestTar.zstd(tar))) {
            var root = fresh();
            var unpacked = unpack(layer, root);
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

        assertThat(unpack(members.toByteArray(), fresh()).diffId()).isEqualTo(Digest.of(tar));
    }

    @Test
    void keepsCapabilitiesAndAttributesOfUsersOnly() throws Exception {
        byte[] capability = {1, 0, 0, 2, (byte) 0x80, (byte) 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
        byte[] binary = {(byte) 0xff, 0, (byte) 0xfe, '\n', '='};
        var root = unpack(new TestTar()
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
    void turnsWhiteoutsIntoThoseOfOverlayfs() throws Exception {
        below.add(unpack(new TestTar().file("gone", "x").file("dir/old", "x").file("kept/file", "x")));

        var root = unpack(
                new TestTar().file(".wh.gone", "").file("dir/.wh..wh..opq", "").file("kept/.wh.file", ""));

        assertThat(list(root)).isEqualTo("""
                 d 755 0:0\s
                dir d 755 0:0\s
                gone c 0 0:0\s
                kept d 755 0:0\s
                kept/file c 0 0:0\s""");
        assertThat(opaque(root, "dir")).isTrue();
        assertThat(opaque(root, "kept")).isFalse();
        assertThat(merged(root)).isEqualTo("\ndir\nkept");
    }

    @Test
    void neverHidesWhatTheSameLayerHas() throws Exception {
        below.add(
                unpack(new TestTar().file("dir/old", "x").file("other/old", "x").file("file", "x")));

        var root = unpack(new TestTar()
                .file("dir/new", "y")
                .file(".wh.dir", "")
                .file(".wh.other", "")
                .directory("other")
                .file("file", "y")
                .file(".wh.file", ""));

        assertThat(merged(root)).isEqualTo("\ndir\ndir/new\nfile\nother");
        assertThat(root.resolve("file")).hasContent("y");
    }

    /// The kernel lists the name of a whiteout in a directory that it does not merge.
    @Test
    void makesNoWhiteoutsThatHideNothing() throws Exception {
        below.add(unpack(new TestTar().file("old/dir/x", "x").file("old/y", "x").file("file/x", "x")));

        var root = unpack(new TestTar()
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

        assertThat(find(root, "%P %y\\n").lines())
                .containsExactlyInAnyOrder(" d", "file f", "new d", "old d", "old/dir d");
        assertThat(merged(root)).isEqualTo("\nfile\nnew\nold\nold/dir");
    }

    @Test
    void hidesAllBelowAnOpaqueRoot() throws Exception {
        below.add(unpack(new TestTar().file("a/x", "x").file("b", "x")));
        below.add(0, unpack(new TestTar().file("c", "x")));

        var root =
                unpack(new TestTar().file("a/y", "y").file(".wh..wh..opq", "").file("d", "y"));

        assertThat(merged(root)).isEqualTo("\na\na/y\nd");
    }

    @Test
    void takesMissingDirectoriesFromTheLayersBelow() throws Exception {
        below.add(unpack(new TestTar()
                .add(Header.of("./", '5').mode(0711).owner(3, 3), new byte[0])
                .add(Header.of("home", '5').mode(0700).owner(1000, 100).modified(1_600_000_000), new byte[0])
                .directory("usr/lib")
                .symlink("lib", "usr/lib")));

        var root =
                unpack(new TestTar().file("home/file", "x").file("lib/so", "x").file("new/file", "x"));

        assertThat(list(root)).isEqualTo("""
                 d 711 3:3\s
                home d 700 1000:100\s
                home/file f 644 0:0\s
                new d 755 0:0\s
                new/file f 644 0:0\s
                usr d 755 0:0\s
                usr/lib d 755 0:0\s
                usr/lib/so f 644 0:0\s""");
        assertThat(find(root.resolve("home"), "%T@ ")).startsWith("1600000000.");
    }

    @Test
    void copiesTheTargetOfAHardLinkFromTheLayersBelow() throws Exception {
        below.add(unpack(new TestTar()
                .pax("SCHILY.xattr.user.mine", "v")
                .add(Header.of("bin/tool", '0').mode(04711).owner(5, 6), TestTar.bytes("tool"))));
        below.add(0, unpack(new TestTar().file("other", "x")));

        var root = unpack(new TestTar().link("bin/name", "/bin/tool"));

        assertThat(list(root)).isEqualTo("""
                 d 755 0:0\s
                bin d 755 0:0\s
                bin/name f 4711 5:6\s
                bin/tool f 4711 5:6\s""");
        assertThat(find(root.resolve("bin/name"), "%i")).isEqualTo(find(root.resolve("bin/tool"), "%i"));
        assertThat(root.resolve("bin/name")).hasContent("tool");
        assertThat(Files.getAttribute(root.resolve("bin/name"), "unix:nlink")).isEqualTo(2);
    }

    @Test
    void letsTheLastOfSeveralEntriesWin() throws Exception {
        below.add(unpack(new TestTar().file("c/below", "x")));

        var root = unpack(new TestTar()
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

        assertThat(merged(root)).isEqualTo("\na\nb\nc\nd\ne");
        assertThat(root.resolve("a")).hasContent("two");
        assertThat(root.resolve("b")).hasContent("file now");
        assertThat(root.resolve("d")).hasContent("no link");
        assertThat(root.resolve("e")).isSymbolicLink();
    }

    @Test
    void staysBelowTheRoot() throws Exception {
        var outside = Files.createDirectory(directory.resolve("outside"));
        var root = unpack(new TestTar()
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
        var root = unpack(new TestTar().symlink("a", victim.toString()).file("a", "mine"));

        assertThat(victim).hasContent("unharmed");
        assertThat(root.resolve("a")).hasContent("mine").isRegularFile();
        assertThat(root.resolve("a")).isNotEqualTo(victim);
    }

    @Test
    void neverOpensAFifo() throws Exception {
        var root = unpack(new TestTar()
                .add(Header.of("a", '6'), new byte[0])
                .link("b", "a")
                .file("a", "file now"));

        assertThat(list(root)).contains("a f 644").contains("b p 644");
    }

    @Test
    void refusesWhatNoImageNeeds() {
        refuses(new TestTar().device("x", '3', 0, 0), "device 0:0");
        refuses(new TestTar().device("x", '4', 0, 0), "device 0:0");
        refuses(new TestTar().link("x", "../../etc/shadow"), "leads out");
        refuses(new TestTar().link("x", "none"), "\"none\", which is not there");
        refuses(new TestTar().link("x", "x"), "not there");
        refuses(new TestTar().directory("d").link("x", "d"), "link to a directory");
        refuses(new TestTar().link("x", "/"), "link to a directory");
        refuses(new TestTar().file("f", "x").file("f/g", "x"), "no directory");
        refuses(new TestTar().symlink("a", "b").symlink("b", "a").file("a/x", "x"), "too many symbolic links");
        refuses(new TestTar().file("old/", "x").symlink("./", "x"), "must be a directory");
        refuses(
                new TestTar().add(Header.of("big", '0').owner(65_536, 0), new byte[0]),
                "\"big\" belongs to user 65536");
        refuses(new TestTar().add(Header.of("big", '0').owner(0, 1 << 30), new byte[0]), "\"big\" belongs to");
        refuses(new TestTar().pax("uid", "4294967296").file("big", "x"), "belongs to user 4294967296");
        refuses(new TestTar().add(Header.of("odd", 'Z'), new byte[0]), "of a type that images do not have");
        refuses(
                new TestTar().file("a\nb\u001b[31m", "x").device("a\nb\u001b[31m", '3', 0, 0),
                "\"a\\u000ab\\u001b[31m\"");
    }

    @Test
    void refusesAttributesThatOverlayfsWouldRead() {
        refuses(new TestTar().pax("SCHILY.xattr.trusted.overlay.opaque", "y").directory("d"), "trusted.overlay.opaque");
        refuses(new TestTar().pax("SCHILY.xattr.trusted.x", "y").file("d", ""), "trusted.x");
        refuses(new TestTar().pax("SCHILY.xattr.user.overlay.whiteout", "y").file("d", ""), "user.overlay.whiteout");
    }

    @Test
    void refusesWhiteoutsThatNameNothing() {
        refuses(new TestTar().file(".wh.", ""), "whiteout of no name");
        refuses(new TestTar().file(".wh..", ""), "whiteout of no name");
        refuses(new TestTar().file("a/.wh...", ""), "whiteout of no name");
        refuses(new TestTar().file(".wh.a/b", ""), "below a whiteout");
        refuses(new TestTar().file(".wh..wh..opq/b", ""), "below a whiteout");
        refuses(new TestTar().directory(".wh.a"), "must be a file");
        refuses(new TestTar().symlink(".wh.a", "b"), "must be a file");
    }

    @Test
    void leavesOutDevicesThatSandboxesHaveNoUseFor() throws Exception {
        var root = fresh();
        var unpacked = unpack(
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
    void refusesArchivesThatAreBroken() {
        byte[] good = new TestTar().file("a", "content").tar();
        good[5] = 'x';
        refuses(good, "wrong checksum");
        refuses(
                new TestTar()
                        .raw(Header.of("a", '0').size(5000), TestTar.bytes("short"))
                        .open(),
                "cut off");
        refuses(new TestTar().bytes(new byte[] {1, 2, 3}).open(), "cut off");
        refuses(Arrays.copyOf(TestTar.gzip(good), 60), "cut off");
        refuses(Arrays.copyOf(TestTar.gzip(good), 6), "cut off");
        refuses(new byte[] {0x1f, (byte) 0x8b, 7, 0, 0, 0, 0, 0, 0, 0}, "damaged or cut off");
        refuses(Arrays.copyOf(TestTar.zstd(good), 40), "damaged");
        refuses(
                new TestTar()
                        .add(Header.of("pax", 'x'), TestTar.bytes("9999 path=x\n"))
                        .file("a", ""),
                "broken extended");
        refuses(
                new TestTar()
                        .add(Header.of("pax", 'x'), TestTar.bytes("nonsense"))
                        .file("a", ""),
                "broken extended");
        refuses(new TestTar().raw(Header.of("a", '0').size(-1), new byte[0]), "negative size");
    }

    @Test
    void refusesNamesThatAreNone() {
        refuses(new TestTar().pax("path", "a\0b").file("a", ""), "NUL byte");
        refuses(new TestTar().file("", ""), "empty name");
        refuses(new TestTar().pax("path", "x".repeat(256)).file("a", ""), "more than 255 bytes");
        refuses(new TestTar().pax("path", "x/".repeat(2500)).file("a", ""), "more than 4,095 bytes");
        refuses(new TestTar().pax("path", "x/".repeat(600) + "f").file("a", ""), "512 directories deep");
        refuses(new TestTar().symlink("s", ""), "could not be written");
    }

    @Test
    void limitsWhatAnArchiveMayHold() {
        limits = new LayerLimits(1 << 20, 5, 250, 1 << 19, 4096, 512, Duration.ofMinutes(1));
        refuses(new TestTar().raw(Header.of("a", '0').size(1L << 40), new byte[0]), "the limit for a file is 524,288");
        refuses(new TestTar().raw(Header.of("a", '0').size(Long.MAX_VALUE), new byte[0]), "limit for a file");
        byte[] some = new byte[400_000];
        refuses(
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
        refuses(many, "more than 5 entries");
        refuses(
                new TestTar().add(Header.of("pax", 'x'), new byte[5000]).file("a", ""),
                "extended header of 5,000 bytes");
        refuses(
                new TestTar().add(Header.of("long", 'L'), new byte[5000]).file("a", ""),
                "extended header of 5,000 bytes");
        refuses(
                new TestTar()
                        .raw(Header.of("pax", 'x').size(1L << 33), new byte[0])
                        .file("a", ""),
                "extended header of 8,589,934,592 bytes");
        var headers = new TestTar();
        for (int i = 0; i < 20; i++) {
            headers.pax("comment", "x");
        }
        refuses(headers.file("a", ""), "too many extended headers");
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

        refuses(bomb.toByteArray(), "compressed more than 250 to one");
    }

    @Test
    void limitsTheTimeThatUnpackingTakes() {
        limits = new LayerLimits(1 << 20, 100, 250, 1 << 20, 4096, 512, Duration.ZERO);
        refuses(new TestTar().file("a", "x"), "could not be unpacked within");

        limits = LayerLimits.DEFAULT;
        String deep = "d/".repeat(500);
        String round = "x/../".repeat(800);
        refuses(
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
        below.add(unpack(new TestTar().add(Header.of("big", '0'), new byte[100_000])));
        limits = new LayerLimits(50_000, 100, 250, 1 << 20, 4096, 512, Duration.ofMinutes(1));

        refuses(new TestTar().link("name", "big"), "more than 50,000 bytes");
    }

    @Test
    void keepsNamesOfAllKinds() throws Exception {
        byte[] latin = {'c', 'a', 'f', (byte) 0xe9};
        String big = "d/".repeat(80) + "file";
        var root = unpack(new TestTar()
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
        run(
                "sh",
                "-c",
                "cd " + source + " && truncate -s 50M holes && for i in $(seq 1 40); do printf block$i |"
                        + " dd of=holes bs=1M seek=$i conv=notrunc status=none; done; truncate -s 1M empty; echo plain > plain");
        for (String form :
                List.of("--format=gnu", "--sparse-version=0.0", "--sparse-version=0.1", "--sparse-version=1.0")) {
            var tar = directory.resolve("sparse.tar");
            String format = form.startsWith("--format") ? form : "--format=pax";
            run("tar", "-C", source.toString(), "-S", format, form, "-cf", tar.toString(), ".");
            assertThat(Files.size(tar)).isLessThan(2 << 20);

            var root = fresh();
            unpack(Files.readAllBytes(tar), root);

            for (String name : List.of("holes", "empty", "plain")) {
                assertThat(Files.mismatch(root.resolve(name), source.resolve(name)))
                        .as(form + name)
                        .isEqualTo(-1);
            }
            assertThat(Long.parseLong(find(root.resolve("holes"), "%b"))).isLessThan(4096);
        }
    }

    @Test
    void refusesMapsOfHolesThatLie() {
        refuses(sparse("5,5,0,5", "20", 10), "broken map");
        refuses(sparse("0,5,100,5", "20", 10), "broken map");
        refuses(sparse("0,5,5", "20", 10), "broken extended header");
        refuses(sparse("0,4", "20", 10), "does not fit");
        refuses(sparse("0,10", "9223372036854775807", 10), "broken extended header");
        refuses(sparse("0,10", "999999999999999999", 10), "limit for a file");
    }

    private static TestTar sparse(String map, String size, int stored) {
        return new TestTar()
                .pax(Map.of("GNU.sparse.map", TestTar.bytes(map), "GNU.sparse.size", TestTar.bytes(size)))
                .add(Header.of("holes", '0'), new byte[stored]);
    }

    @Test
    void unpacksManyFilesOverManyLayers() throws Exception {
        for (int i = 0; i < 126; i++) {
            below.add(0, unpack(new TestTar().file("shared/deep/dir/f" + i, "x")));
        }
        var root = unpack(new TestTar().file("shared/deep/dir/f126", "x").link("shared/l", "shared/deep/dir/f0"));

        assertThat(root.resolve("shared/l")).hasContent("x");
        assertThat(Files.list(Path.of("/proc/self/fd")).count()).isLessThan(400);
    }

    private Path unpack(TestTar tar) throws IOException {
        var root = fresh();
        unpack(tar.gzip(), root);
        return root;
    }

    private LayerUnpacker.Unpacked unpack(byte[] layer, Path root) throws IOException {
        return new LayerUnpacker(limits).unpack(new ByteArrayInputStream(layer), root, below);
    }

    private Path fresh() throws IOException {
        var root = Files.createTempDirectory(directory, "layer");
        Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxr-xr-x"));
        return root;
    }

    private void refuses(TestTar tar, String reason) {
        refuses(tar.tar(), reason);
    }

    private void refuses(byte[] layer, String reason) {
        assertThatThrownBy(() -> unpack(layer, fresh()))
                .isInstanceOf(CayException.class)
                .hasMessageContaining(reason);
    }

    private static String list(Path root) {
        return find(root, "%P %y %m %U:%G %l\\n")
                .lines()
                .sorted()
                .reduce((a, b) -> a + "\n" + b)
                .orElse("");
    }

    private static boolean opaque(Path root, String name) throws IOException {
        try (var open = FileCalls.open(root.resolve(name).toString(), FileCalls.DIRECTORY, 0)) {
            return MergedDirectory.opaque(open);
        }
    }

    /// Paths that the kernel shows of the layer over those below.
    private String merged(Path root) throws IOException {
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

    private static String find(Path root, String format) {
        return run("find", root.toString(), "-printf", format);
    }

    private static String run(String... command) {
        return Programs.ofHost().require(Duration.ofSeconds(60), command);
    }
}
