package dev.cay.node.files;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.HostThreads;
import dev.cay.node.watch.WatchHub;
import dev.cay.node.watch.Watches;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.ProbeFile;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Somebody inside exchanges a directory and a link to the host's files, without pause, while we work there.
@NeedsRoot
class FileRaceTest {
    private static final int ROUNDS = 1000;
    private static final String SECRET = "a secret of the host";
    private static final int CONTROL_ROUNDS = 1_000_000;
    private static final Account ROOT = new Account("root", 0, 0, "/root", "/bin/sh", List.of());

    @TempDir
    private Path directory;

    private Path outside;
    private Path root;
    private Process swapping;
    private final HostThreads threads = new HostThreads("test-races", 2, 100);

    @BeforeEach
    void start() throws IOException {
        root = Files.createDirectory(directory.resolve("root"));
        outside = Files.createDirectory(directory.resolve("outside"));
        Files.writeString(outside.resolve("f"), SECRET);
        Path program = ProbeFile.unpack(directory);
        swapping = new ProcessBuilder(program.toString(), "swap", root.toString(), outside.toString()).start();
        assertThat(swapping.inputReader().readLine()).isEqualTo("swapping");
    }

    @AfterEach
    void end() {
        swapping.destroyForcibly().onExit().orTimeout(1, TimeUnit.MINUTES).join();
        threads.close();
    }

    @Test
    void neverLeavesTheSandbox() throws IOException, InterruptedException {
        int met = 0;
        int missed = 0;
        try (var poller = new FdPoller();
                var hub = new WatchHub(poller);
                var tree = FileTree.open(root.toString(), 0, threads.shareOf(() -> "test"));
                var watches = new Watches(tree, hub)) {
            for (int i = 0; i < ROUNDS; i++) {
                String path = "/a/n" + i;
                met += succeeds(() -> assertThat(read(tree, "/a/f")).isNotEqualTo(SECRET)) ? 1 : 0;
                missed += succeeds(() ->
                                tree.write(SandboxPath.of(path), ROOT, Map.of()).close())
                        ? 0
                        : 1;
                succeeds(() -> tree.move(SandboxPath.of(path), SandboxPath.of("/a/m"), ROOT));
                succeeds(() -> tree.remove(SandboxPath.of("/a/m")));
                succeeds(() -> assertThat(tree.list(SandboxPath.of("/a"), 3, _ -> {}))
                        .noneMatch(entry -> entry.size() == SECRET.length()));
                succeeds(() ->
                        assertThat(tree.stat(SandboxPath.of("/a/f")).size()).isNotEqualTo(SECRET.length()));
                String made = "/a/d" + i;
                succeeds(() -> tree.makeDirectory(SandboxPath.of(made), ROOT));
                succeeds(() -> tree.compose(List.of(SandboxPath.of("/a/m")), SandboxPath.of("/a/whole"), ROOT));
                met += tells(watches) ? 1 : 0;
            }
        }
        assertThat(met).as("the directory was met").isPositive();
        assertThat(missed).as("the link was met").isPositive();
        try (var entries = Files.list(outside)) {
            assertThat(entries).containsExactly(outside.resolve("f"));
        }
        assertThat(outside.resolve("f")).hasContent(SECRET);
    }

    private boolean tells(Watches watches) throws IOException, InterruptedException {
        try (var watch = watches.open(SandboxPath.of("/a"), true, false, false)) {
            Files.delete(Files.createFile(outside.resolve("noise")));
            assertThat(watch.takeAll()).noneMatch(change -> change.name().equals("noise"));
            return true;
        } catch (CayException e) {
            return false;
        }
    }

    /// The control: whoever goes by path names is led out soon.
    @Test
    void leadsOutWhoeverGoesByPathNames() {
        boolean ledOut = false;
        for (int i = 0; i < CONTROL_ROUNDS && !ledOut; i++) {
            try {
                ledOut = Files.readString(root.resolve("a/f")).equals(SECRET);
            } catch (IOException _) {
                // Between the two.
            }
        }
        assertThat(ledOut).isTrue();
    }

    private static String read(FileTree tree, String path) throws IOException {
        try (var file = tree.read(SandboxPath.of(path))) {
            return new String(file.stream(0, file.size()).readAllBytes(), UTF_8);
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    private static boolean succeeds(Work work) throws IOException {
        try {
            work.run();
            return true;
        } catch (CayException e) {
            return false;
        }
    }
}
