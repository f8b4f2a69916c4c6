package dev.cay.node.image.oci;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.Programs;
import dev.cay.node.image.LayerStore;
import dev.cay.node.linux.FileCalls;
import dev.cay.testing.NeedsRoot;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Layers that are merged show the same as those they are made of. The kernel's overlayfs is the judge, so it needs
/// root.
@NeedsRoot
final class LayerMergeTest {
    @TempDir
    private Path directory;

    private LayerStore layers;

    @BeforeEach
    void makeStore() {
        layers = new LayerStore(directory.resolve("cache"));
    }

    @Test
    void showsTheSameAsTheLayers() throws Exception {
        var keys = install(
                new TestTar()
                        .file("a/one", "1")
                        .file("a/two", "1")
                        .file("b/deep/x", "1")
                        .file("file", "1")
                        .file("becomes-dir", "1")
                        .symlink("link", "a")
                        .add(TestTar.Header.of("pipe", '6'), new byte[0])
                        .pax("SCHILY.xattr.user.mine", "v")
                        .add(TestTar.Header.of("set-id", '0').mode(04755).owner(7, 8), TestTar.bytes("1")),
                new TestTar()
                        .file("a/.wh.one", "")
                        .file("a/three", "2")
                        .file("b/.wh..wh..opq", "")
                        .file("b/new", "2")
                        .file(".wh.file", "")
                        .directory("becomes-dir")
                        .file("becomes-dir/inside", "2"),
                new TestTar()
                        .add(TestTar.Header.of("a", '5').mode(0700).owner(5, 5), new byte[0])
                        .file("a/one", "3")
                        .file("b/deep/y", "3")
                        .file("file/now/dir", "3")
                        .link("a/other", "set-id"),
                new TestTar().file(".wh.link", "").file("b/.wh.new", "").file("a/.wh.two", ""));

        for (var plan :
                List.of(List.of(4), List.of(2, 2), List.of(1, 3), List.of(3, 1), List.of(1, 2, 1), List.of(1, 1, 2))) {
            assertThat(shown(merged(keys, plan))).as(plan.toString()).isEqualTo(shown(keys));
        }
        assertThat(shown(keys))
                .contains("a/one f 644 0:0")
                .doesNotContain("deep/x")
                .doesNotContain("link l");
    }

    @Test
    void keepsWhiteoutsOnlyWhereTheyHideSomething() throws Exception {
        var keys = install(
                new TestTar().file("a", "1").file("d/x", "1"),
                new TestTar().file("a", "2").file("b", "2"),
                new TestTar()
                        .file(".wh.b", "")
                        .file(".wh.a", "")
                        .file("d/.wh..wh..opq", "")
                        .file(".wh.never", ""));
        var merge = new LayerMerge(layers);

        var bottom = layers.require(merge.merge(keys.subList(0, 2), List.of()));
        var above = layers.require(merge.merge(keys.subList(0, 2), keys.subList(2, 3)));

        assertThat(find(bottom, "%P %y\\n")).isEqualTo(" d\nd d");
        assertThat(find(above, "%P %y\\n")).isEqualTo(" d\na c\nd d");
        try (var open = FileCalls.open(above.resolve("d").toString(), FileCalls.DIRECTORY, 0)) {
            assertThat(MergedDirectory.opaque(open)).isTrue();
        }
    }

    @Test
    void copiesNoBytes() throws Exception {
        var keys = install(new TestTar().file("a", "1"), new TestTar().file("b", "1"));

        var merged = layers.require(new LayerMerge(layers).merge(keys, List.of()));

        assertThat(find(merged.resolve("b"), "%i"))
                .isEqualTo(find(layers.require(keys.getFirst()).resolve("b"), "%i"));
        assertThat(find(merged.resolve("a"), "%n")).isEqualTo("2");
    }

    /// Layers with few names, so that everything happens to each of them.
    @Test
    void agreesWithTheKernelOnLayersOfAllKinds() throws Exception {
        for (int seed = 0; seed < 12; seed++) {
            var random = new Random(seed);
            var tars = IntStream.range(0, 6).mapToObj(_ -> randomLayer(random)).toArray(TestTar[]::new);
            var keys = install(tars);
            String expected = shown(keys);
            for (var plan : List.of(List.of(6), List.of(3, 3), List.of(2, 2, 2), List.of(1, 4, 1))) {
                assertThat(shown(merged(keys, plan)))
                        .as("seed %d, plan %s", seed, plan)
                        .isEqualTo(expected);
            }
        }
    }

    private static TestTar randomLayer(Random random) {
        var tar = new TestTar();
        for (int i = 0; i < 5; i++) {
            String name = "abc".charAt(random.nextInt(3)) + "";
            String path = "d" + random.nextInt(2) + "/" + name;
            switch (random.nextInt(7)) {
                case 0 -> tar.file(".wh.d" + random.nextInt(2), "");
                case 1 -> tar.file("d" + random.nextInt(2) + "/.wh." + name, "");
                case 2 -> tar.file("d" + random.nextInt(2) + "/.wh..wh..opq", "");
                case 3 -> tar.directory(path);
                case 4 -> tar.add(TestTar.Header.of("d0", '5').mode(random.nextInt(0777)), new byte[0]);
                default -> tar.file("d" + random.nextInt(2) + "/e/" + name, "" + random.nextInt());
            }
        }
        return tar;
    }

    @Test
    void mergesAsManyAsNeeded() throws Exception {
        var tars = IntStream.range(0, 60)
                .mapToObj(i -> new TestTar().file("f" + i, "" + i))
                .toArray(TestTar[]::new);
        var keys = install(tars);
        var merge = new LayerMerge(layers);

        assertThat(merge.atMost(60, keys)).isEqualTo(keys);
        var few = merge.atMost(40, keys);
        assertThat(few).hasSizeLessThanOrEqualTo(40).startsWith(keys.getFirst());
        assertThat(merge.atMost(1, keys)).hasSize(1);
        assertThat(merge.atMost(2, keys.subList(55, 60))).hasSizeLessThanOrEqualTo(2);
        // One layer more on top: what was merged below stays.
        assertThat(merge.atMost(40, keys.subList(1, 60)).getLast()).isEqualTo(few.getLast());
        assertThat(shown(few)).isEqualTo(shown(merge.atMost(1, keys)));
        assertThat(shown(few).lines()).hasSize(121);
    }

    /// @param plan how many layers go into each group, from the topmost
    private List<String> merged(List<String> keys, List<Integer> plan) {
        var merged = new ArrayList<String>();
        int at = 0;
        for (int size : plan) {
            merged.add(new LayerMerge(layers).merge(keys.subList(at, at + size), keys.subList(at + size, keys.size())));
            at += size;
        }
        return merged;
    }

    /// @return keys, the topmost first
    private List<String> install(TestTar... tars) throws Exception {
        var keys = new ArrayList<String>();
        for (var tar : tars) {
            var below = keys.stream().map(layers::require).toList();
            String key = "test-" + LayerStore.hash(List.of(Digest.of(tar.tar()).hex(), String.join(",", keys)));
            layers.build(
                    key,
                    rootfs -> new LayerUnpacker(LayerLimits.DEFAULT)
                            .unpack(new ByteArrayInputStream(tar.tar()), rootfs, below));
            keys.addFirst(key);
        }
        return List.copyOf(keys);
    }

    /// What overlayfs shows: names, types, permissions, owners, times, and what files hold.
    private String shown(List<String> keys) throws Exception {
        var mount = Files.createTempDirectory(directory, "mount");
        var links = Files.createTempDirectory(directory, "l");
        var names = new ArrayList<String>();
        for (String key : keys) {
            var link = links.resolve(Integer.toString(names.size()));
            Files.createSymbolicLink(link, layers.require(key));
            names.add(link.getFileName().toString());
        }
        if (names.size() == 1) {
            Files.createDirectory(links.resolve("empty"));
            names.add("empty");
        }
        run(
                "sh",
                "-c",
                "cd %s && mount -t overlay overlay -o lowerdir=%s %s".formatted(links, String.join(":", names), mount));
        try {
            return find(mount, "%P %y %m %U:%G %T@ %l\\n") + "\n"
                    + run("sh", "-c", "cd %s && find . -type f | LC_ALL=C sort | xargs -r sha256sum".formatted(mount));
        } finally {
            run("umount", mount.toString());
        }
    }

    private static String find(Path root, String format) {
        return String.join(
                "\n",
                run("find", root.toString(), "-printf", format).lines().sorted().toList());
    }

    private static String run(String... command) {
        return Programs.ofHost().require(Duration.ofSeconds(60), command);
    }
}
