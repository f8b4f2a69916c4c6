package dev.cay.node.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Two instances that share one cache directory.
@Fast
@Timeout(60)
final class UnusedLayersTest {
    private static final Duration MONTH = Duration.ofDays(30);

    @TempDir
    private Path dir;

    private Path cache;
    private Path stateOfOne;
    private Path stateOfTwo;
    private LayerStore one;
    private LayerStore two;

    @BeforeEach
    void start() throws IOException {
        cache = dir.resolve("cache");
        stateOfOne = Files.createDirectory(dir.resolve("one"));
        stateOfTwo = Files.createDirectory(dir.resolve("two"));
        one = new LayerStore(cache, stateOfOne);
        two = new LayerStore(cache, stateOfTwo);
        one.claimAll(List.of());
        two.claimAll(List.of());
    }

    @Test
    void aLayerStaysAsLongAsOneInstanceNamesIt() {
        build(one, "shared", "ones", "nobodys");
        two.require("shared");
        assertThat(collect(one, Set.of("ones"))).containsExactly("nobodys");
        assertThat(layers()).containsExactly("ones", "shared");
        assertThat(collect(two, Set.of())).containsExactly("shared");
        assertThat(layers()).containsExactly("ones");
    }

    @Test
    void theClaimsOfAnInstanceOutliveItsProcess() {
        build(one, "kept");
        assertThat(collect(new LayerStore(cache, stateOfTwo), Set.of())).isEmpty();
        assertThat(layers()).containsExactly("kept");
    }

    @Test
    void aDryRunChangesNothing() throws IOException {
        build(one, "unused");
        age("unused");
        Files.writeString(cache.resolve("layers/.gone.lock"), "");
        var before = everything();
        assertThat(new UnusedLayers(two, List::of)
                        .layers(Set.of(), two.requireClaims().moment(), Instant.now(), true))
                .isEmpty();
        var unused = new UnusedLayers(one, List::of);
        assertThat(unused.layers(Set.of(), unused.begin(), Instant.now(), true))
                .extracting(Unused::name)
                .containsExactly("unused");
        unused.leftovers(Instant.now());
        assertThat(everything()).isEqualTo(before);
        two.require("unused");
    }

    @Test
    void aLayerThatWasUsedOfLateStays() throws IOException {
        build(one, "fresh", "old");
        beginLongAgo();
        age("old");
        assertThat(collect(one, Set.of(), MONTH)).containsExactly("old");
        assertThat(layers()).containsExactly("fresh");
    }

    @Test
    void usingAnOldLayerMakesItYoungAgain() throws IOException {
        build(one, "used");
        beginLongAgo();
        age("used");
        two.require("used");
        assertThat(collect(one, Set.of(), MONTH)).isEmpty();
        assertThat(collect(two, Set.of(), MONTH)).isEmpty();
    }

    /// Older versions of Cay did not write when a layer was used.
    @Test
    void theAgeOfALayerCountsFromTheFirstClaimAtTheEarliest() throws IOException {
        build(new LayerStore(cache), "of-an-older-version");
        age("of-an-older-version");
        assertThat(collect(one, Set.of(), MONTH)).isEmpty();
        beginLongAgo();
        assertThat(collect(one, Set.of(), MONTH)).containsExactly("of-an-older-version");
    }

    @Test
    void claimsOfAnInstanceWhoseStateDirectoryIsGoneEnd() throws IOException {
        build(two, "lost");
        Files.delete(stateOfTwo);
        assertThat(collect(one, Set.of(), MONTH)).as("its disk may come back").isEmpty();
        assertThat(claims()).isEqualTo(2);
        assertThat(collect(one, Set.of())).containsExactly("lost");
        assertThat(claims()).isEqualTo(1);
    }

    @Test
    void whatIsClaimedAfterTheBeginningOfACollectionStays() {
        build(one, "named-late");
        var unused = new UnusedLayers(one, List::of);
        long since = unused.begin();
        one.require("named-late");
        assertThat(unused.layers(Set.of(), since, Instant.now(), false)).isEmpty();
        assertThat(layers()).containsExactly("named-late");
    }

    @Test
    void whatABuildHasClaimedStaysUntilItsResultIsNamed() {
        try (var _ = one.use()) {
            build(one, "step");
            assertThat(collect(one, Set.of())).isEmpty();
        }
        assertThat(collect(one, Set.of())).containsExactly("step");
    }

    @Test
    void aLayerThatIsGoneIsSaidToBeGoneAndIsBuiltAgain() {
        build(one, "again");
        assertThat(collect(one, Set.of())).containsExactly("again");
        assertThat(one.claim("again")).isFalse();
        assertThatThrownBy(() -> one.require("again"))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("build its template again");
        build(one, "again");
        assertThat(one.require("again").resolve("file")).exists();
    }

    @Test
    void aRemovalThatWasCutShortIsFinishedByTheNextCollection() {
        build(one, "half");
        var unused = new UnusedLayers(one, List::of);
        // The daemon is killed here: the layer has lost its name and nothing is deleted.
        assertThat(unused.layers(Set.of(), unused.begin(), Instant.now(), false))
                .hasSize(1);
        assertThat(layers()).isEmpty();
        assertThat(hidden(".removed-")).hasSize(1);
        build(two, "half");
        collect(two, Set.of("half"));
        assertThat(hidden(".removed-")).isEmpty();
        assertThat(layers()).containsExactly("half");
    }

    @Test
    void halfALineOfAKilledWriterCostsNoClaim() throws IOException {
        build(one, "first");
        var file = claimsOf(stateOfOne);
        Files.writeString(file, Files.readString(file) + "half-a-li");
        build(one, "second");
        assertThat(collect(two, Set.of())).isEmpty();
        assertThat(layers()).containsExactly("first", "second");
    }

    @Test
    void aNewDaemonKeepsWhatTheLastOneClaimed() {
        build(one, "by-the-last");
        build(new LayerStore(cache), "known-to-records");
        new LayerStore(cache, stateOfOne).claimAll(List.of("known-to-records", "not-there"));
        assertThat(collect(two, Set.of())).isEmpty();
        assertThat(layers()).containsExactly("by-the-last", "known-to-records");
    }

    @Test
    void aLinkIsNoLayerAndNothingBehindOneIsDeleted() throws IOException {
        var outside = Files.createDirectories(dir.resolve("outside/rootfs"));
        Files.writeString(outside.resolve("precious"), "x");
        one.build("links", rootfs -> Files.createSymbolicLink(rootfs.resolve("out"), outside));
        Files.createSymbolicLink(cache.resolve("layers/linked"), outside.getParent());
        assertThat(collect(one, Set.of())).containsExactly("links");
        assertThat(outside.resolve("precious")).exists();
        assertThat(one.has("linked")).isTrue();
    }

    @Test
    void sandboxesOfAnInstanceOfAnOlderVersionKeepTheirLayers() throws IOException {
        build(new LayerStore(cache), "of-notes", "of-a-snapshot", "of-nobody");
        var older = dir.resolve("older");
        write(older.resolve("sandboxes/i1/sandbox.json"), "{\"spec\": {\"layers\": [\"of-notes\"]}}");
        write(older.resolve("sandboxes/i2/sandbox.json"), "{ what");
        write(older.resolve("pool/snapshots/i3.1/about.json"), "{\"layers\": [\"of-a-snapshot\"]}");
        assertThat(collect(one, Set.of(), Duration.ZERO, List.of(older, stateOfOne)))
                .containsExactly("of-nobody");
    }

    @Test
    void leftoversOfKilledBuildsGoAndThoseOfRunningOnesStay() throws Exception {
        var dead = Files.createDirectories(cache.resolve("layers/.unfinished-dead.123"));
        write(cache.resolve("layers/.dead.lock"), "");
        write(cache.resolve("layers/.dead.progress"), "0.1\tx\ty");
        var begun = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var building = threads.submit(() -> one.build("alive", rootfs -> {
                begun.countDown();
                go.await();
                Files.writeString(rootfs.resolve("file"), "x");
            }));
            begun.await();
            var found = new UnusedLayers(one, List::of).leftovers(Instant.now());
            assertThat(found)
                    .extracting(Unused::name)
                    .contains(".unfinished-dead.123")
                    .noneMatch(name -> name.contains("alive"));
            found.forEach(leftover -> leftover.remove().run());
            assertThat(dead).doesNotExist();
            assertThat(hidden(".dead")).isEmpty();
            assertThat(hidden(".unfinished-alive")).hasSize(1);
            go.countDown();
            assertThat(building.get()).isDirectory();
        }
    }

    /// A user either has the layer, and then it stays, or learns that it is gone.
    @Test
    void claimsAndRemovalsInTurnNeverTakeAClaimedLayer() throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int round = 0; round < 60; round++) {
                String key = "layer-" + round;
                build(new LayerStore(cache), key);
                var start = new CountDownLatch(1);
                Future<Boolean> claimed = threads.submit(() -> {
                    start.await();
                    return two.claim(key);
                });
                var removed = threads.submit(() -> {
                    start.await();
                    return collect(one, Set.of());
                });
                start.countDown();
                assertThat(removed.get().contains(key)).isEqualTo(!claimed.get());
                assertThat(two.has(key)).isEqualTo(claimed.get());
            }
        }
    }

    @Test
    void aClaimWaitsForACollectionOfAnotherProcess() throws Exception {
        build(new LayerStore(cache), "taken");
        var other = new ProcessBuilder(List.of(
                        "python3",
                        "-I",
                        "-c",
                        """
                        import fcntl, os, sys
                        f = open(sys.argv[1], 'a')
                        fcntl.lockf(f, fcntl.LOCK_EX)
                        print('held', flush=True)
                        sys.stdin.readline()
                        os.rename(sys.argv[2] + '/taken', sys.argv[2] + '/.removed-taken')
                        """,
                        cache.resolve("claims/.lock").toString(),
                        cache.resolve("layers").toString()))
                .start();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            assertThat(other.inputReader().readLine()).isEqualTo("held");
            var claimed = threads.submit(() -> one.claim("taken"));
            assertThat(claimed.isDone()).isFalse();
            try (var in = other.outputWriter()) {
                in.write("go on\n");
            }
            assertThat(claimed.get()).isFalse();
        } finally {
            other.destroyForcibly();
        }
    }

    private static void build(LayerStore store, String... keys) {
        for (String key : keys) {
            store.build(key, rootfs -> Files.writeString(rootfs.resolve("file"), key));
        }
    }

    private List<String> collect(LayerStore store, Set<String> named) {
        return collect(store, named, Duration.ZERO);
    }

    private List<String> collect(LayerStore store, Set<String> named, Duration age) {
        return collect(store, named, age, List.of());
    }

    /// @return names of the layers that were removed
    private List<String> collect(LayerStore store, Set<String> named, Duration age, List<Path> stateDirs) {
        var unused = new UnusedLayers(store, () -> stateDirs);
        var found =
                unused.layers(named, unused.begin(), Instant.now().plusMillis(1).minus(age), false);
        found.forEach(one -> one.remove().run());
        return found.stream()
                .filter(one -> one.what().equals("layer"))
                .map(Unused::name)
                .toList();
    }

    private List<String> layers() {
        return names().stream().filter(name -> !name.startsWith(".")).toList();
    }

    private List<String> hidden(String prefix) {
        return names().stream().filter(name -> name.startsWith(prefix)).toList();
    }

    private List<String> names() {
        try (var all = Files.list(cache.resolve("layers"))) {
            return all.map(path -> path.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private int claims() throws IOException {
        try (var all = Files.list(cache.resolve("claims"))) {
            return (int) all.filter(file -> !file.getFileName().toString().startsWith("."))
                    .count();
        }
    }

    private Path claimsOf(Path stateDir) throws IOException {
        try (var all = Files.list(cache.resolve("claims"))) {
            var files = new ArrayList<>(all.toList());
            files.removeIf(file -> !text(file).startsWith(stateDir + "\n"));
            return files.getFirst();
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void age(String key) throws IOException {
        makeOld(cache.resolve("layers").resolve(key));
    }

    /// As if claims had been kept for a long time.
    private void beginLongAgo() throws IOException {
        makeOld(cache.resolve("claims/.lock"));
    }

    private static void makeOld(Path path) throws IOException {
        Files.setLastModifiedTime(path, FileTime.from(Instant.now().minus(MONTH.multipliedBy(2))));
    }

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    /// Each file with its text and each directory with its time.
    private Map<String, String> everything() throws IOException {
        var all = new TreeMap<String, String>();
        try (var files = Files.walk(cache)) {
            for (var file : files.toList()) {
                all.put(
                        file.toString(),
                        Files.isRegularFile(file)
                                ? text(file)
                                : Files.getLastModifiedTime(file).toString());
            }
        }
        return all;
    }
}
