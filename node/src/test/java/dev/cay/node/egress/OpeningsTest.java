package dev.cay.node.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.tls.EgressAuthority;
import dev.cay.tls.HostCertificates;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
@Fast
final class OpeningsTest {
    @TempDir
    Path directory;

    private Openings openings(int atOnce, Duration longest) {
        var clock = InstantSource.system();
        var certificates = new HostCertificates(new EgressAuthority(directory, clock)::sign, clock);
        return new Openings(certificates, atOnce, longest);
    }

    @Test
    void aTeamWaitsForOneOfAnotherHoweverManyThatHas() throws Exception {
        // One at a time, so that the clients are counted in the order in which they begin.
        var openings = openings(1, Duration.ofHours(1));
        var order = new ConcurrentLinkedQueue<String>();
        var first = openings.begin("noisy", "a.test");
        var clients = new ArrayList<Thread>();
        for (String team : Stream.concat(Collections.nCopies(10, "noisy").stream(), Stream.of("calm"))
                .toList()) {
            var client = Thread.ofVirtual().start(() -> open(openings, team, order));
            clients.add(client);
            Await.until("the client waits", () -> client.getState() == Thread.State.TIMED_WAITING);
        }
        first.close();
        for (var client : clients) {
            assertThat(client.join(Await.LIMIT)).isTrue();
        }
        assertThat(order).hasSize(11);
        assertThat(order.stream().toList().indexOf("calm")).isLessThan(2);
    }

    private static void open(Openings openings, String team, ConcurrentLinkedQueue<String> order) {
        try (var _ = openings.begin(team, "a.test")) {
            order.add(team);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void goesOnBesideClientsThatDoNotFinish() throws Exception {
        var openings = openings(2, Duration.ofMillis(100));
        openings.begin("stalling", "a.test");
        openings.begin("stalling", "a.test");
        assertThatCode(() -> openings.begin("other", "a.test").close()).doesNotThrowAnyException();
    }
}
