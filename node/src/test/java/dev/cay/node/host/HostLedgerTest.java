package dev.cay.node.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class HostLedgerTest {
    @TempDir
    private Path dir;

    @Test
    void namesTheKeyAndTheOtherInstance() {
        ledger().join(claim("a", "10.200.0.0/16", 1_000_000_000, 3000));
        ledger().join(claim("b", "10.201.0.0/16", 1_600_000_000, 3100));
        assertThat(ledger().instances()).extracting(HostClaim::instance).containsExactly("a", "b");
        long pid = ProcessHandle.current().pid();

        assertRefused(claim("c", "10.200.7.0/24", 2_000_000, 3200))
                .hasMessage(
                        "network.range 10.200.7.0/24 overlaps 10.200.0.0/16 of instance \"a\" (pid %d); set network.range to addresses that are not in use"
                                .formatted(pid));
        assertRefused(claim("c", "10.202.0.0/24", 1_500_000_000, 3200))
                .hasMessageStartingWith(
                        "storage.uidBase 1500000000 gives sandboxes uids 1500000000 to 1516580607, and instance \"a\"");
        assertRefused(claim("c", "10.202.0.0/24", 2_000_000, 3001))
                .hasMessageStartingWith("http.port 3001 is a port of instance \"a\"");
        assertRefused(claim("c", "10.202.0.0/24", 2_000_000, 3099))
                .hasMessageStartingWith("http.tlsPort 3100 is a port of instance \"b\"");
        assertRefused(with(
                        claim("c", "10.202.0.0/24", 2_000_000, 3200),
                        dir.resolve("state-a").toString(),
                        "x"))
                .hasMessageStartingWith("stateDir %s/state-a is that of instance \"a\"".formatted(dir));
        assertRefused(with(
                        claim("c", "10.202.0.0/24", 2_000_000, 3200),
                        "x",
                        dir.resolve("run-b").toString()))
                .hasMessageStartingWith("runDir %s/run-b is that of instance \"b\"".formatted(dir));
        assertRefused(with(claim("a", "10.202.0.0/24", 2_000_000, 3200), "elsewhere", "x"))
                .hasMessageStartingWith("instance \"a\" is the name of another Cay, with stateDir " + dir);
        assertThat(ledger().instances()).hasSize(2);
        ledger().join(claim("c", "10.202.0.0/24", 2_000_000, 3200));
        // The same one again, after a restart with other ports.
        ledger().join(claim("a", "10.200.0.0/16", 1_000_000_000, 3300));
    }

    @Test
    void samePortsOnOtherAddressesAreFine() {
        ledger().join(claim("a", "10.200.0.0/24", 1_000_000_000, 3000));
        var other = claim("b", "10.201.0.0/24", 1_600_000_000, 3000);
        var elsewhere = new HostClaim(
                other.instance(),
                other.pid(),
                other.began(),
                other.stateDir(),
                other.runDir(),
                other.range(),
                other.uidBase(),
                other.uidCount(),
                List.of("192.0.2.7"),
                3000,
                3001);
        assertRefused(other).hasMessageContaining("http.port").hasMessageContaining("http.tlsPort");
        ledger().join(elsewhere);
    }

    @Test
    void forgetsWhoIsDead() {
        ledger().join(dead(claim("a", "10.200.0.0/16", 1_000_000_000, 3000)));
        ledger().join(claim("b", "10.200.0.0/16", 1_000_000_000, 3000));
        assertThat(ledger().instances()).extracting(HostClaim::instance).containsExactly("b");
    }

    @Test
    void knowsNothingOfAnotherBootNorOfNonsense() throws IOException {
        ledger().join(claim("a", "10.200.0.0/16", 1_000_000_000, 3000));
        var file = dir.resolve("ledger/host.json");
        Files.writeString(file, Files.readString(file).replaceFirst("\"boot\" : \"[^\"]+\"", "\"boot\" : \"other\""));
        assertThat(ledger().instances()).isEmpty();
        Files.writeString(file, "{ nonsense");
        assertThat(ledger().instances()).isEmpty();
    }

    @Test
    void reservesWhatNobodyHasAndWhatNoDefaultCayWants() throws Exception {
        var first = ledger().reserve(Files.createDirectory(dir.resolve("first")), 24);
        ledger().join(claim("default", "10.200.0.0/16", 1_000_000_000, 3000));
        try (var threads = Executors.newFixedThreadPool(8)) {
            for (int i = 0; i < 40; i++) {
                Path place = Files.createDirectory(dir.resolve("place" + i));
                var _ = threads.submit(() -> ledger().reserve(place, 24));
            }
        }
        ledger().reserve(Files.createDirectory(dir.resolve("large")), 20);
        var all = new ArrayList<HostClaim>(ledger().instances());
        try (var names = Files.lines(dir.resolve("ledger/host.json"))) {
            names.filter(line -> line.matches(" *\"instance\" : \"t....\","))
                    .forEach(line -> all.add(ledger().reservation(line.replaceAll(".*: \"|\",", ""))
                            .orElseThrow()
                            .claim()));
        }
        assertThat(all).hasSize(43);
        for (var one : all) {
            for (var other : all) {
                assertThat(one == other ? List.of() : one.clashes(other)).isEmpty();
            }
        }
        // Refused to anybody else, taken by the daemon it is for, and still reserved when that has left.
        assertRefused(claim(first.instance(), "10.9.0.0/24", 2_000_000, 3200))
                .hasMessageContaining("set another instance");
        assertRefused(claim("x", first.claim().range(), 2_000_000, 3200)).hasMessageContaining("set network.range");
        ledger().join(first.claim());
        assertThat(ledger().daemon(first)).isPresent();
        new Sysctls(ledger(), dir).leave(first.instance());
        assertRefused(claim("x", first.claim().range(), 2_000_000, 3200)).hasMessageContaining("set network.range");
        ledger().release(first);
        ledger().join(claim("x", first.claim().range(), 2_000_000, 3200));
    }

    @Test
    void aReservationOfADeadProcessIsTakenOverOnce() throws Exception {
        var mine = ledger().reserve(Files.createDirectory(dir.resolve("place")), 24);
        assertThat(ledger().takeAbandoned()).isEmpty();
        Path file = dir.resolve("ledger/host.json");
        Files.writeString(
                file, Files.readString(file).replaceFirst("\"keeper\" : \"[0-9-]+\"", "\"keeper\" : \"1-1\""));
        assertThat(ledger().takeAbandoned()).map(Reservation::claim).contains(mine.claim());
        assertThat(ledger().takeAbandoned()).isEmpty();
        Files.writeString(file, Files.readString(file).replaceFirst("\"run\" : null", "\"run\" : \"1-1\""));
        assertThat(ledger().takeAbandoned()).as("its `cay test` is gone").isPresent();
    }

    private org.assertj.core.api.AbstractThrowableAssert<?, ? extends Throwable> assertRefused(HostClaim claim) {
        return assertThatThrownBy(() -> ledger().join(claim)).isInstanceOf(CayException.class);
    }

    private HostLedger ledger() {
        return new HostLedger(dir.resolve("ledger"));
    }

    private HostClaim claim(String instance, String range, int uidBase, int port) {
        var plan = new HostPlan(instance, uidBase, range);
        return HostClaim.of(
                plan,
                dir.resolve("state-" + instance),
                dir.resolve("run-" + instance),
                List.of("127.0.0.1"),
                port,
                port + 1);
    }

    private static HostClaim with(HostClaim claim, String stateDir, String runDir) {
        return new HostClaim(
                claim.instance(),
                claim.pid(),
                claim.began(),
                stateDir,
                runDir,
                claim.range(),
                claim.uidBase(),
                claim.uidCount(),
                claim.listen(),
                claim.port(),
                claim.tlsPort());
    }

    private static HostClaim dead(HostClaim claim) {
        return new HostClaim(
                claim.instance(),
                claim.pid(),
                claim.began() - 1,
                claim.stateDir(),
                claim.runDir(),
                claim.range(),
                claim.uidBase(),
                claim.uidCount(),
                claim.listen(),
                claim.port(),
                claim.tlsPort());
    }
}
