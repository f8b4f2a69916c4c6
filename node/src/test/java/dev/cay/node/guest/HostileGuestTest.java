package dev.cay.node.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.linux.NetNamespace;
import dev.cay.testing.NeedsRoot;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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
            assertThat(leaks(() -> lieOnce(how, 1)))
                    .as("what it lent stays open")
                    .isFalse();
            try (var streams = honest.spawn(ECHO)) {
                assertThat(streams.pid()).isPositive();
            }
        }
    }

    @Test
    void endsTheLinkOfAGuestThatTalksNonsense() throws Exception {
        try (var honest = neighbour.link()) {
            assertThat(leaks(() -> {
                        for (int seed = 0; seed < 20; seed++) {
                            lieOnce("random", seed);
                        }
                    }))
                    .as("what it lent stays open")
                    .isFalse();
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

    /// As the sandbox is killed, or the daemon stops.
    @Test
    @Timeout(60)
    void givesUpAGuestThatNobodyWantsAnyMore() throws Exception {
        var anHour = Duration.ofHours(1);
        try (var guest = new LyingGuest("silent", 1);
                var network = NetNamespace.open(guest.process.pid(), neighbour.threads())) {
            new ProcessBuilder("kill", "-STOP", Long.toString(guest.process.pid()))
                    .start()
                    .waitFor();
            assertThatThrownBy(() -> GuestLink.open(network, neighbour.poller(), anHour, () -> true))
                    .isInstanceOf(SilentGuestException.class);
            guest.process.destroyForcibly().waitFor();
            assertThatThrownBy(() -> GuestLink.open(network, neighbour.poller(), anHour, () -> true))
                    .hasMessageContaining("connection refused");
        }
    }

    @Test
    void aDescriptorThatStaysOpenWouldBeSeen() throws Exception {
        var kept = new ArrayList<InputStream>();
        try {
            assertThat(leaks(() -> kept.add(Files.newInputStream(Path.of("/dev/null")))))
                    .isTrue();
        } finally {
            for (var each : kept) {
                each.close();
            }
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
            assertThat(how.equals("text") || lost.await(1, TimeUnit.MINUTES))
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

    private interface Round {
        void play() throws Exception;
    }

    /// Whether there are more descriptors after each of several rounds. Others in this process have some too, and open
    /// and close them meanwhile.
    private static boolean leaks(Round round) throws Exception {
        for (int i = 0; i < 5; i++) {
            long before = descriptors();
            round.play();
            if (descriptors() <= before) {
                return false;
            }
        }
        return true;
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
            process.destroyForcibly().onExit().orTimeout(1, TimeUnit.MINUTES).join();
            process.inputReader().close();
            process.getOutputStream().close();
            process.getErrorStream().close();
            Files.delete(script);
        }
    }
}
