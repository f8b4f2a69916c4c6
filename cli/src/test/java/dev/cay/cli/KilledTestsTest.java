package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.Abandoned;
import dev.cay.node.host.HostLedger;
import dev.cay.node.host.HostProcess;
import dev.cay.node.host.Programs;
import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.OwnJava;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A test that is killed while its daemon serves a sandbox, and what is left when the next one has begun.
@NeedsRoot
final class KilledTestsTest {
    private static final Duration LIMIT = Duration.ofMinutes(10);

    @TempDir
    private Path directory = Path.of("unset");

    private final Programs programs = Programs.ofHost();

    @Test
    void theNextRemovesEverything() throws Exception {
        Path output = directory.resolve("victim.out");
        var victim = new ProcessBuilder(OwnJava.command(Victim.class))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        String[] words;
        try {
            Await.until("the test run to be killed serves", () -> {
                String said = Files.readString(output);
                assertThat(victim.isAlive()).as(said).isTrue();
                return said.contains("serving ");
            });
            words = Files.readString(output).strip().split("serving ")[1].split(" ");
            assertThat(onHost(words[0], Path.of(words[2]))).contains("cay_" + words[0], "cay-" + words[0], words[2]);
        } finally {
            victim.destroyForcibly().waitFor();
        }
        String instance = words[0];
        var daemon = HostProcess.of(Long.parseLong(words[1]));
        Path place = Path.of(words[2]);
        Abandoned.remove(HostLedger.ofHost());

        // Another test on this machine may be at it already.
        Await.until(
                "the reservation of the killed run is removed",
                () -> HostLedger.ofHost().reservation(instance).isEmpty());
        assertThat(daemon.runs()).isFalse();
        assertThat(onHost(instance, place)).doesNotContain(instance, place.toString());
        assertThat(place).doesNotExist();
        assertThat(HostLedger.ofHost().reservation(instance)).isEmpty();
    }

    private String onHost(String instance, Path place) {
        var text = new StringBuilder();
        for (String command : new String[] {
            "nft list tables",
            "cat /proc/mounts",
            "losetup --list",
            "ip -o link",
            "find /sys/fs/cgroup -maxdepth 2 -name cay-" + instance
        }) {
            programs.require(LIMIT, command.split(" "))
                    .lines()
                    .filter(line -> line.contains(instance) || line.contains(place.toString()))
                    .forEach(line -> text.append(line).append('\n'));
        }
        return text.toString();
    }

    /// The test that is killed.
    static final class Victim {
        private Victim() {}

        public static void main(String[] arguments) throws Exception {
            var cay = OwnCay.start(Map.of());
            cay.awaitTemplate("base");
            var _ = RemoteSandbox.create(cay.url(), cay.key(), "base", LIMIT);
            System.out.println(
                    "serving %s %d %s ".formatted(cay.instance(), cay.daemon().pid(), cay.directory()));
            Thread.sleep(LIMIT);
        }
    }
}
