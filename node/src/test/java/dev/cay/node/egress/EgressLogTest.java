package dev.cay.node.egress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.node.EgressEntry;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

@Fast
final class EgressLogTest {
    private final EgressLog log = new EgressLog(InstantSource.fixed(Instant.EPOCH));

    @Test
    void countsAttemptsThatAreAlikeInOneEntry() {
        log.note("tls", "a.test", "6.6.6.2", 443, true, "domain").sent.add(10);
        log.note("tls", "a.test", "6.6.6.2", 443, true, "domain").received.add(20);
        log.note("tls", "a.test", "6.6.6.2", 443, false, "none");
        var seen = log.seen();
        assertThat(seen.entries()).hasSize(2);
        assertThat(seen.entries().getFirst().allowed()).as("the last one first").isFalse();
        assertThat(seen.entries().getLast()).satisfies(entry -> {
            assertThat(entry.attempts()).isEqualTo(2);
            assertThat(entry.sent()).isEqualTo(10);
            assertThat(entry.received()).isEqualTo(20);
        });
    }

    @Test
    void staysSmallHoweverMuchASandboxTries() {
        for (int i = 0; i < 5000; i++) {
            log.note("dns", "n" + i + ".test", null, 53, false, "none");
        }
        assertThat(log.seen().entries()).hasSize(1000);
        assertThat(log.seen().dropped()).isEqualTo(4000);
        assertThat(log.seen().entries().getFirst().name()).isEqualTo("n4999.test");
    }

    @Test
    void tellsOfEachKindOfRefusalOnceAndNotWithoutEnd() {
        var told = new ArrayList<EgressEntry>();
        log.onRefusal(told::add);
        log.note("tls", "good.test", "6.6.6.2", 443, true, "domain");
        log.note("tls", "evil.test", "6.6.6.3", 443, false, "none");
        log.note("tls", "evil.test", "6.6.6.3", 443, false, "none");
        assertThat(told).hasSize(1).first().satisfies(entry -> {
            assertThat(entry.name()).isEqualTo("evil.test");
            assertThat(entry.port()).isEqualTo(443);
        });
        for (int i = 0; i < 5000; i++) {
            log.note("dns", "n" + i + ".test", null, 53, false, "none");
        }
        assertThat(told).hasSize(100);
    }

    @Test
    void showsNothingThatATerminalWouldObey() {
        log.note("dns", "\u001b[31m" + "x".repeat(1000) + "\r\n", null, 53, false, "none");
        assertThat(log.seen().entries().getFirst().name()).startsWith("?[31mx").hasSize(253);
    }
}
