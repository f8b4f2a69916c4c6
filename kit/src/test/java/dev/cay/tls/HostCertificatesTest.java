package dev.cay.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// One team asks for ever more hosts, as `1.evil.test`, `2.evil.test` and so on, and another one works beside it.
@Timeout(120)
@Fast
final class HostCertificatesTest {
    private static final int PLACES = 64;

    @TempDir
    Path directory;

    private final AtomicInteger signed = new AtomicInteger();
    private volatile Instant now = Instant.now();
    private final InstantSource clock = () -> now;

    private HostCertificates certificates() {
        var authority = new EgressAuthority(directory, clock);
        return new HostCertificates(
                host -> {
                    signed.incrementAndGet();
                    return authority.sign(host);
                },
                clock,
                PLACES);
    }

    private int signatures(Callable<?> action) throws Exception {
        int before = signed.get();
        action.call();
        return signed.get() - before;
    }

    @Test
    void aTeamThatAsksForEverMoreHostsPushesOutItsOwn() throws Exception {
        var certificates = certificates();
        for (int i = 0; i < 10; i++) {
            certificates.of("calm", "host" + i + ".test");
        }
        for (int i = 0; i < 90; i++) {
            certificates.of("noisy", i + ".evil.test");
        }
        for (int i = 0; i < 10; i++) {
            String host = "host" + i + ".test";
            assertThat(signatures(() -> certificates.of("calm", host))).as(host).isZero();
        }
        assertThat(signatures(() -> certificates.of("noisy", "89.evil.test"))).isZero();
        assertThat(signatures(() -> certificates.of("noisy", "0.evil.test"))).isEqualTo(1);
    }

    @Test
    void nobodyLearnsWhatOthersHaveVisited() throws Exception {
        var certificates = certificates();
        certificates.of("calm", "host.test");
        assertThat(signatures(() -> certificates.of("noisy", "host.test"))).isEqualTo(1);
    }

    /// A thousand hosts in a short time are signed for a few, and the rest is refused. Whoever is not over its limit
    /// does not wait.
    @Test
    void aTeamDoesNotMakeTheNodeSignWithoutEnd() throws Exception {
        var certificates = certificates();
        var refused = ConcurrentHashMap.<String>newKeySet();
        var begun = new CountDownLatch(1000);
        try (var clients = Executors.newVirtualThreadPerTaskExecutor()) {
            var all = new ArrayList<Callable<Object>>();
            for (int i = 0; i < 1000; i++) {
                String host = i + ".evil.test";
                all.add(() -> {
                    begun.countDown();
                    try {
                        return certificates.of("noisy", host);
                    } catch (IOException e) {
                        refused.add(e.getMessage());
                        return e;
                    }
                });
            }
            var attack = clients.submit(() -> clients.invokeAll(all));
            begun.await();
            assertThat(certificates.of("calm", "host.test")).isNotNull();
            assertThat(attack.isDone()).as("the noisy one still waits").isFalse();
            attack.get();
        }
        assertThat(refused).singleElement().asString().contains("a team gets 100 at once and 10 in a second");
        assertThat(signed.get()).isBetween(150, 500);
    }

    @Test
    void connectionsToOneNewHostShareASignature() throws Exception {
        var certificates = certificates();
        try (var clients = Executors.newVirtualThreadPerTaskExecutor()) {
            Callable<X509Certificate> one = () -> certificates.of("calm", "host.test");
            var made = new ArrayList<X509Certificate>();
            for (var each : clients.invokeAll(List.of(one, one, one, one, one, one))) {
                made.add(each.get());
            }
            assertThat(made).hasSize(6).containsOnly(made.getFirst());
        }
        assertThat(signed).hasValue(1);
    }

    @Test
    void teamsThatLeftMakeRoomAndOldCertificatesAreRenewed() throws Exception {
        var certificates = certificates();
        for (int team = 0; team < PLACES; team++) {
            certificates.of("team" + team, "host.test");
        }
        certificates.of("late", "host.test");
        assertThat(signatures(() -> certificates.of("late", "host.test")))
                .as("there was no place")
                .isEqualTo(1);
        now = now.plus(Duration.ofHours(2));
        certificates.of("late", "host.test");
        assertThat(signatures(() -> certificates.of("late", "host.test"))).isZero();
        now = now.plus(Duration.ofDays(25));
        assertThat(signatures(() -> certificates.of("late", "host.test"))).isEqualTo(1);
    }

    @Test
    void aSignatureThatFailsIsTriedAgain() throws Exception {
        var fails = new AtomicInteger(1);
        var authority = new EgressAuthority(directory, clock);
        var certificates = new HostCertificates(
                host -> {
                    if (fails.getAndDecrement() > 0) {
                        throw new IllegalStateException("no entropy");
                    }
                    return authority.sign(host);
                },
                clock);
        assertThatThrownBy(() -> certificates.of("calm", "host.test")).hasMessage("no entropy");
        assertThat(certificates.of("calm", "host.test")).isNotNull();
    }
}
