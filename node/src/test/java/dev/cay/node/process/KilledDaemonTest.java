package dev.cay.node.process;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.guest.TestSandbox;
import dev.cay.testing.NeedsRoot;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
@NeedsRoot
class KilledDaemonTest {
    private static final int LAST = 400_000;
    private static final int KILLS = 4;

    /// A daemon that dies between writing to its client and noting it may say one chunk twice; nothing may be missing.
    @Test
    void killNineLosesNoByteOfOutput() throws Exception {
        try (var sandbox = new TestSandbox()) {
            int expected = 1;
            int doubled = 0;
            for (int life = 0; life <= KILLS; life++) {
                boolean last = life == KILLS;
                var text = follow(sandbox, last ? Integer.MAX_VALUE : 300_000);
                var lines = text.lines().toList();
                // Lines have eight bytes, and pipes and logs are cut at multiples of that: none is torn.
                int first = Integer.parseInt(lines.get(0));
                assertThat(first).as("life %d begins", life).isLessThanOrEqualTo(expected);
                doubled += expected - first;
                for (int i = 0; i < lines.size(); i++) {
                    assertThat(lines.get(i)).isEqualTo(String.format("%07d", first + i));
                }
                expected = first + lines.size();
            }
            assertThat(expected).isEqualTo(LAST + 1);
            assertThat(doubled).isLessThanOrEqualTo(KILLS * (32 << 10) / 8);
        }
    }

    /// What one daemon delivers before it is killed.
    private static String follow(TestSandbox sandbox, int killAfter) throws Exception {
        var daemon = DoomedProgram.start(
                Follower.class,
                Long.toString(sandbox.pid()),
                sandbox.directory().resolve("processes").toString(),
                "seq -f %07.0f 1 " + LAST);
        try (var out = daemon.getInputStream()) {
            byte[] begun = out.readNBytes(killAfter);
            // Through the handle: the process itself would also close what we have not read.
            daemon.toHandle().destroyForcibly();
            byte[] rest = out.readAllBytes();
            assertThat(daemon.waitFor(1, TimeUnit.MINUTES)).isTrue();
            return new String(begun, UTF_8) + new String(rest, UTF_8);
        } finally {
            daemon.destroyForcibly();
        }
    }
}
