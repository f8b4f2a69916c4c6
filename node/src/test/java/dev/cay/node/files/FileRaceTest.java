package dev.cay.node.files;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.HostThreads;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Somebody inside exchanges a directory and a link to the host's files, without pause, while we work there.
class FileRaceTest {
    private static final int ROUNDS = 2000;
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
        Files.writeString(outside.resolve("f"), "secret");
        Path program = directory.resolve("cay-probe");
        try (var packed = FileRaceTest.class.getResourceAsStream("/dev/cay/guest/cay-probe")) {
            Files.copy(Objects.requireNonNull(packed, "build the guest first"), program);
        }
        assertThat(program.toFile().setExecutable(true)).isTrue();
        swapping = new ProcessBuilder(program.toString(), "swap", root.toString(), outside.toString()).start();
        assertThat(swapping.inputReader().readLine()).isEqualTo("swapping");
    }

    @AfterEach
    void end() {
        swapping.destroyForcibly().onExit().orTimeout(10, TimeUnit.SECONDS).join();
        threads.close();
    }

    @Test
    void neverLeavesTheSandbox() throws IOException {
        int met = 0;
        int missed = 0;
        try (var poller = new FdPoller();
                var hub = new WatchHub(poller);
                var tree = FileTree.open(root.toString(), 0, threads, hub)) {
            for (int i = 0; i < ROUNDS; i++) {
                String path = "/a/n" + i;
                met += succeeds(() -> assertThat(read(tree, "/a/f")).isNotEqualTo("secret")) ? 1 : 0;
                missed += succeeds(() ->
                                tree.write(SandboxPath.of(path), ROOT, Map.of()).close())
                        ? 0
                        : 1;
                succeeds(() -> tree.move(SandboxPath.of(path), SandboxPath.of("/a/m"), ROOT));
                succeeds(() -> tree.remove(SandboxPath.of("/a/m")));
                succeeds(() -> tree.list(SandboxPath.of("/a"), 3, _ -> {}));
            }
        }
        assertThat(met).as("the directory was met").isPositive();
        assertThat(missed).as("the link was met").isPositive();
        try (var entries = Files.list(outside)) {
            assertThat(entries).containsExactly(outside.resolve("f"));
        }
        assertThat(outside.resolve("f")).hasContent("secret");
    }

    /// The control: whoever goes by path names is led out soon.
    @Test
    void leadsOutWhoeverGoesByPathNames() {
        boolean ledOut = false;
        for (int i = 0; i < CONTROL_ROUNDS && !ledOut; i++) {
            try {
                ledOut = Files.readString(root.resolve("a/f")).equals("secret");
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
