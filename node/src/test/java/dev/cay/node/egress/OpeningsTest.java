package dev.cay.node.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.cay.testing.Fast;
import dev.cay.tls.EgressAuthority;
import dev.cay.tls.HostCertificates;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
@Fast
final class OpeningsTest {
    @TempDir
    Path directory;

    @SuppressWarnings("NullAway.Init")
    private Openings openings;

    @BeforeEach
    void begin() {
        var clock = InstantSource.system();
        openings = new Openings(new HostCertificates(new EgressAuthority(directory, clock)::sign, clock), 2);
    }

    @Test
    void aTeamWaitsForOneOfAnotherHoweverManyThatHas() throws Exception {
        var order = new ConcurrentLinkedQueue<String>();
        var first = openings.begin("noisy", "a.test");
        var second = openings.begin("noisy", "a.test");
        var done = new CountDownLatch(11);
        try (var clients = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 10; i++) {
                clients.submit(() -> open("noisy", order, done));
            }
            Thread.sleep(200);
            clients.submit(() -> open("calm", order, done));
            Thread.sleep(200);
            first.close();
            second.close();
            assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(order.stream().toList().indexOf("calm")).isLessThan(4);
    }

    private Void open(String team, ConcurrentLinkedQueue<String> order, CountDownLatch done) throws Exception {
        try (var _ = openings.begin(team, "a.test")) {
            order.add(team);
            Thread.sleep(20);
        }
        done.countDown();
        return null;
    }

    @Test
    void goesOnBesideClientsThatDoNotFinish() throws Exception {
        openings.begin("stalling", "a.test");
        openings.begin("stalling", "a.test");
        assertThatCode(() -> openings.begin("other", "a.test").close()).doesNotThrowAnyException();
    }
}
