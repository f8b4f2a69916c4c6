package dev.cay.node.process;

import static dev.cay.node.process.ProcessTableTest.shell;

import dev.cay.node.guest.TestSandbox;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Whenever a client leaves, nothing of the command it wanted stays that nobody knows of.
@Timeout(60)
@NeedsRoot
class LeavingClientTest {
    private static final ProcessSettings FORGETFUL =
            new ProcessSettings(1 << 20, Duration.ofSeconds(2), Duration.ofMillis(1), Duration.ofSeconds(5));

    @Test
    void leavesNothingWhenItsCommandHasNotBegun() throws Exception {
        try (var sandbox = new TestSandbox();
                var link = sandbox.link();
                var table = new ProcessTable(
                        sandbox.directory().resolve("processes"), link, sandbox.workers(), FORGETFUL)) {
            table.adopt();
            var running = table.start(shell("sleep 100"));
            var folder = sandbox.directory().resolve("processes");
            long before = openIn(folder);
            for (int i = 0; i < 200; i++) {
                var client = Thread.ofVirtual().start(() -> startAndKill(table));
                Thread.sleep(0, i * 5_000);
                client.interrupt();
                client.join();
            }
            Await.until(
                    "descriptors and folders of processes whose clients left are released",
                    () -> openIn(folder) <= before && folders(folder) == 1);
            running.process().killNow();
        }
    }

    private static void startAndKill(ProcessTable table) {
        try (var subscription = table.start(shell("true"))) {
            subscription.process().killNow();
        } catch (IOException | CayException e) {
            // It left before, which is what this is about.
        }
    }

    private static long folders(Path folder) {
        try (var folders = Files.list(folder)) {
            return folders.filter(Files::isDirectory).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long openIn(Path folder) {
        try (var open = Files.list(Path.of("/proc/self/fd"))) {
            return open.filter(descriptor -> leadsTo(descriptor, folder)).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean leadsTo(Path descriptor, Path folder) {
        try {
            return Files.readSymbolicLink(descriptor).toString().startsWith(folder.toString());
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }
}
