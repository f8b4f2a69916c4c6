package dev.cay.node.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.files.FileTree;
import dev.cay.node.files.SandboxPath;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.HostThreads;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
@NeedsRoot
class WatchTest {
    private static final Duration LIMIT = Duration.ofMinutes(1);

    @TempDir
    private Path directory;

    private Path root;
    private HostThreads threads;
    private FdPoller poller;
    private WatchHub hub;
    private FileTree tree;
    private Watches watches;

    @BeforeEach
    void open() throws IOException {
        root = Files.createDirectory(directory.resolve("root"));
        threads = new HostThreads("test-watch", 2, 100);
        poller = new FdPoller();
        poller.start();
        hub = new WatchHub(poller);
        tree = FileTree.open(root.toString(), 0, threads.shareOf(() -> "test"));
        watches = new Watches(tree, hub);
    }

    @AfterEach
    void close() {
        watches.close();
        tree.close();
        assertThat(hub.size()).as("watched directories").isZero();
        hub.close();
        poller.close();
        threads.close();
    }

    private Watch watch(String path, boolean recursive) throws IOException {
        return watches.open(new SandboxPath(path), recursive, false, false);
    }

    private static List<String> all(Watch watch) throws Exception {
        return watch.takeAll().stream()
                .map(change -> change.kind() + " " + change.name())
                .toList();
    }

    @Test
    void tellsInOrderAndOnlyOfTheDirectoryItself() throws Exception {
        var below = Files.createDirectory(root.resolve("below"));
        try (var watch = watch("/", false)) {
            Files.writeString(root.resolve("a"), "1");
            Files.writeString(below.resolve("unseen"), "1");
            Files.move(root.resolve("a"), root.resolve("b"));
            Files.setAttribute(root.resolve("b"), "unix:mode", 0600);
            Files.delete(root.resolve("b"));
            assertThat(all(watch))
                    .containsExactly("CREATE a", "WRITE a", "RENAME a", "CREATE b", "CHMOD b", "REMOVE b");
        }
    }

    @Test
    void followsDirectoriesAsTheyComeAndGo() throws Exception {
        Files.createDirectories(root.resolve("w/old/deep"));
        try (var watch = watch("/w", true)) {
            Files.createFile(root.resolve("w/old/deep/f"));
            assertThat(all(watch)).containsExactly("CREATE old/deep/f");
            Files.createDirectories(root.resolve("w/n/e/w"));
            assertThat(all(watch)).containsExactlyInAnyOrder("CREATE n", "CREATE n/e", "CREATE n/e/w");
            Files.createFile(root.resolve("w/n/e/w/f"));
            assertThat(all(watch)).containsExactly("CREATE n/e/w/f");
            // Under its new name, with all that is in it.
            Files.move(root.resolve("w/n"), root.resolve("w/m"));
            Files.delete(root.resolve("w/m/e/w/f"));
            assertThat(all(watch)).containsExactly("RENAME n", "CREATE m", "REMOVE m/e/w/f");
            // What left is nobody's business any more.
            Files.move(root.resolve("w/m"), root.resolve("outside"));
            assertThat(all(watch)).containsExactly("RENAME m");
            Files.createFile(root.resolve("outside/e/g"));
            assertThat(all(watch)).isEmpty();
            Files.createFile(root.resolve("w/last"));
            assertThat(all(watch)).containsExactly("CREATE last");
            assertThat(hub.size()).isEqualTo(3);
            // And what came from elsewhere is, from then on.
            Files.move(root.resolve("outside"), root.resolve("w/back"));
            assertThat(all(watch)).containsExactly("CREATE back");
            Files.delete(root.resolve("w/back/e/g"));
            assertThat(all(watch)).containsExactly("REMOVE back/e/g");
        }
    }

    @Test
    void missesNothingThatIsMadeInADirectoryJustMade() throws Exception {
        try (var watch = watch("/", true)) {
            var expected = new HashSet<String>();
            for (int i = 0; i < 200; i++) {
                var made = Files.createDirectories(root.resolve("d%d/s".formatted(i)));
                Files.createFile(made.resolve("f"));
                expected.addAll(Set.of("CREATE d" + i, "CREATE d%d/s".formatted(i), "CREATE d%d/s/f".formatted(i)));
            }
            var told = new ArrayList<String>();
            long end = System.nanoTime() + LIMIT.toNanos();
            while (told.size() < expected.size() && System.nanoTime() < end) {
                told.addAll(all(watch));
            }
            assertThat(told).containsExactlyInAnyOrderElementsOf(expected);
        }
    }

    @Test
    void missesNothingInADirectoryThatIsMovedAtOnce() throws Exception {
        try (var watch = watch("/", true)) {
            var told = new HashSet<String>();
            for (int i = 0; i < 100; i++) {
                Files.createFile(Files.createDirectories(root.resolve("x%d/s".formatted(i)))
                        .resolve("f"));
                Files.move(root.resolve("x" + i), root.resolve("y" + i));
                told.addAll(all(watch));
                assertThat(told).containsAnyOf("CREATE x%d/s/f".formatted(i), "CREATE y%d/s/f".formatted(i));
            }
        }
    }

    @Test
    void tellsOfItsOwnEnd() throws Exception {
        Files.createDirectories(root.resolve("w/below"));
        try (var watch = watch("/w", true)) {
            Files.setAttribute(root.resolve("w"), "unix:mode", 0700);
            Files.delete(root.resolve("w/below"));
            Files.delete(root.resolve("w"));
            assertThat(all(watch)).containsExactly("CHMOD .", "REMOVE below", "REMOVE .");
            Files.createDirectory(root.resolve("w"));
            Files.createFile(root.resolve("w/f"));
            assertThat(all(watch)).isEmpty();
        }
    }

    @Test
    void followsNoLinkAndNamesThatAreNoText() throws Exception {
        Files.createDirectory(root.resolve("w"));
        Files.createSymbolicLink(root.resolve("w/out"), directory);
        try (var watch = watch("/w", true)) {
            assertThat(hub.size()).isEqualTo(1);
            assertThat(new ProcessBuilder("bash", "-c", "mkdir $'w/\\xff'; touch $'w/\\xff/\\xfe'")
                            .directory(root.toFile())
                            .start()
                            .waitFor())
                    .isZero();
            assertThat(all(watch)).contains("CREATE \udcff", "CREATE \udcff/\udcfe");
            tree.remove(new SandboxPath("/w/\udcff"));
            assertThat(root.resolve("w").toFile().list()).containsExactly("out");
        }
    }

    @Test
    void saysWhenMoreHappenedThanItKept() throws Exception {
        var watch = watch("/", false);
        for (int i = 0; i < 40_000 && hub.size() > 0; i++) {
            Files.createFile(root.resolve("a-file-whose-name-takes-some-room-in-memory-" + i));
        }
        int told = watch.takeAll().size();
        // What was kept comes first.
        assertThat(told).isBetween(1000, 39_999);
        assertThatThrownBy(watch::takeAll)
                .isInstanceOfSatisfying(
                        CayException.class, e -> assertThat(e.kind()).isEqualTo(ErrorKind.FAILED))
                .hasMessageContaining("more changed than could be told");
        assertThatThrownBy(() -> watch.next(LIMIT)).hasMessageContaining("watch again");
        assertThat(hub.size()).isZero();
        watch.close();
        assertThat(watches.use()).isEqualTo("0 bytes, 0 directories, 0 watches");
    }

    @Test
    void oneSandboxCannotTakeAllWatches() throws Exception {
        for (int i = 0; i < WatchQuota.MOST_DIRECTORIES; i++) {
            Files.createDirectory(root.resolve("d" + i));
        }
        assertThatThrownBy(() -> watch("/", true))
                .isInstanceOfSatisfying(
                        CayException.class, e -> assertThat(e.kind()).isEqualTo(ErrorKind.EXHAUSTED))
                .hasMessageContaining("more than 8192 directories");
        assertThat(watches.use()).isEqualTo("0 bytes, 0 directories, 0 watches");
        var other = Files.createDirectory(directory.resolve("other"));
        try (var files = FileTree.open(other.toString(), 0, threads.shareOf(() -> "test"));
                var neighbour = new Watches(files, hub);
                var watch = neighbour.open(new SandboxPath("/"), true, false, false)) {
            Files.createFile(other.resolve("f"));
            assertThat(all(watch)).containsExactly("CREATE f");
        }
    }

    @Test
    void endsWithTheSandbox() throws Exception {
        var watch = watch("/", true);
        var reader = Thread.ofVirtual()
                .unstarted(() -> assertThatThrownBy(() -> watch.next(LIMIT)).hasMessageContaining("ended"));
        var failure = new java.util.concurrent.atomic.AtomicReference<Throwable>();
        reader.setUncaughtExceptionHandler((_, e) -> failure.set(e));
        reader.start();
        watches.close();
        tree.close();
        assertThat(reader.join(LIMIT)).isTrue();
        assertThat(failure.get()).isNull();
        assertThatThrownBy(() -> watch("/", true)).isInstanceOf(CayException.class);
    }
}
