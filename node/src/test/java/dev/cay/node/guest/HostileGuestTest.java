package dev.cay.node.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.linux.NetNamespace;
import dev.cay.testing.NeedsRoot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A guest is only as honest as root in its sandbox: whatever it sends, the link ends, nothing of it stays
/// here, and the neighbour on the same poller does not notice.
@NeedsRoot
class HostileGuestTest {
    private static final Duration SHORT = Duration.ofSeconds(2);
    private static final Spawn ECHO =
            new Spawn(List.of("/bin/true"), List.of(), "/", 0, 0, List.of(0), 0, 0, false, "");

    private TestSandbox neighbour;

    @BeforeEach
    void start() throws Exception {
        neighbour = new TestSandbox();
    }

    @AfterEach
    void end() throws Exception {
        neighbour.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "files",
                "directories",
                "sockets",
                "named-pipes",
                "too-many",
                "unasked",
                "none",
                "stranger",
                "length",
                "negative",
                "kind",
                "text",
                "flood",
                "half"
            })
    void endsTheLinkOfAGuestThatLies(String how) throws Exception {
        try (var honest = neighbour.link()) {
            long before = descriptors();
            lieOnce(how, 1);
            assertThat(descriptors()).as("what it lent is closed").isEqualTo(before);
            try (var streams = honest.spawn(ECHO)) {
                assertThat(streams.pid()).isPositive();
            }
        }
    }

    @Test
    void endsTheLinkOfAGuestThatTalksNonsense() throws Exception {
        try (var honest = neighbour.link()) {
            long before = descriptors();
            for (int seed = 0; seed < 20; seed++) {
                lieOnce("random", seed);
            }
            assertThat(descriptors()).isEqualTo(before);
            try (var streams = honest.spawn(ECHO)) {
                assertThat(streams.pid()).isPositive();
            }
        }
    }

    @Test
    void waitsForASilentGuestOnlyAsLongAsAllowed() throws Exception {
        try (var guest = new LyingGuest("silent", 1);
                var network = NetNamespace.open(guest.process.pid(), neighbour.threads());
                var link = GuestLink.open(network, neighbour.poller(), SHORT)) {
            assertThatThrownBy(() -> link.spawn(ECHO).close()).isInstanceOf(SilentGuestException.class);
        }
    }

    private void lieOnce(String how, int seed) throws Exception {
        var lost = new CountDownLatch(1);
        try (var guest = new LyingGuest(how, seed);
                var network = NetNamespace.open(guest.process.pid(), neighbour.threads());
                var link = GuestLink.open(network, neighbour.poller(), SHORT)) {
            link.listen(new GuestLink.Listener() {
                @Override
                public void exited(int pid, Exit exit) {}

                @Override
                public void lost(String reason) {
                    lost.countDown();
                }
            });
            boolean answered = spawns(link);
            assertThat(answered)
                    .as("more than was asked for is noticed after the answer")
                    .isEqualTo(how.equals("unasked"));
            assertThat(lost.await(10, TimeUnit.SECONDS) || how.equals("text"))
                    .as("the link is given up")
                    .isTrue();
        }
    }

    private static boolean spawns(GuestLink link) {
        try (var _ = link.spawn(ECHO)) {
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    private static long descriptors() {
        try (var entries = Files.list(Path.of("/proc/self/fd"))) {
            return entries.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// In a network of its own, as a sandbox's would be.
    private static final class LyingGuest implements AutoCloseable {
        private final Path script;
        private final Process process;

        LyingGuest(String how, int seed) throws IOException {
            script = Files.createTempFile("cay-hostile", ".py");
            try (var text = HostileGuestTest.class.getResourceAsStream("hostile_guest.py")) {
                Files.write(
                        script, Objects.requireNonNull(text, "hostile_guest.py").readAllBytes());
            }
            process = new ProcessBuilder("unshare", "--net", "python3", script.toString(), how, Integer.toString(seed))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            assertThat(process.inputReader().readLine()).isEqualTo("READY");
        }

        @Override
        public void close() throws IOException {
            process.destroyForcibly().onExit().orTimeout(10, TimeUnit.SECONDS).join();
            process.inputReader().close();
            process.getOutputStream().close();
            process.getErrorStream().close();
            Files.delete(script);
        }
    }
}
