package dev.cay.node.egress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.node.EgressEntry;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

@Fast
final class EgressLogTest {
    private final EgressLog log = log(new LogRoom(1 << 20), "team");

    private static EgressLog log(LogRoom room, String team) {
        return log(room, "sandbox", () -> Optional.of(team));
    }

    private static EgressLog log(LogRoom room, String sandbox, Supplier<Optional<String>> team) {
        return new EgressLog(InstantSource.fixed(Instant.EPOCH), room, sandbox, team);
    }

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
    void keepsRoomForOtherTeamsHoweverManyLogsOneTeamFills() {
        var room = new LogRoom(10_000);
        var kept = log(room, "calm");
        fill(kept, 500);
        var noisy = IntStream.range(0, 50).mapToObj(_ -> log(room, "noisy")).toList();
        noisy.forEach(log -> fill(log, 1000));
        assertThat(noisy.stream().mapToInt(log -> log.seen().entries().size()).sum())
                .isBetween(4000, 5000);
        assertThat(noisy.getLast().seen().entries())
                .as("the newest log has entries, too")
                .hasSizeGreaterThan(50);
        assertThat(kept.seen().entries()).hasSize(500);
        var later = log(room, "later");
        fill(later, 1000);
        assertThat(later.seen().entries()).hasSize(1000);
    }

    @Test
    void givesTheRoomOfForgottenLogsBackAndCountsThemNoMore() {
        var room = new LogRoom(1000);
        for (int i = 0; i < 20; i++) {
            var log = log(room, "team");
            fill(log, 400);
            assertThat(log.seen().entries()).hasSize(400);
            room.forget(log);
            fill(log, 1000);
            assertThat(log.seen().entries()).hasSize(400);
        }
    }

    /// A sandbox that is started in advance has no team, and may have refused packets already.
    @Test
    void whatASandboxTriedBeforeATeamGotItCountsForTheTeam() {
        var room = new LogRoom(10_000);
        var owner = new AtomicReference<String>();
        var spares = IntStream.range(0, 50)
                .mapToObj(number -> log(room, "spare" + number, () -> Optional.ofNullable(owner.get())))
                .toList();
        spares.forEach(log -> fill(log, 10));
        assertThat(spares.getFirst().team()).isEqualTo("spare0");
        owner.set("noisy");
        spares.forEach(log -> fill(log, 1000));
        assertThat(spares).allSatisfy(log -> assertThat(log.team()).isEqualTo("noisy"));
        assertThat(spares.stream().mapToInt(log -> log.seen().entries().size()).sum())
                .isBetween(4000, 5000);
        spares.forEach(room::forget);
        var later = log(room, "later");
        fill(later, 1000);
        assertThat(later.seen().entries()).hasSize(1000);
    }

    private static void fill(EgressLog log, int entries) {
        for (int i = 0; i < entries; i++) {
            log.note("dns", "n" + i + ".test", null, 53, false, "none");
        }
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
