package dev.cay.node.egress;

import dev.cay.life.FairTurns;
import dev.cay.life.WaitLimits;
import dev.cay.tls.HostCertificates;
import dev.cay.wire.CayException;
import dev.cay.wire.TeamId;
import java.io.IOException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/// Lets so many connections at once have their TLS opened, which takes the node milliseconds of a processor each: two
/// handshakes. Teams take turns, and have their own certificates. Thread-safe.
final class Openings {
    private static final int AT_ONCE_PER_CORE = 4;
    private static final int MOST_OF_TEAM = 1024;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /// A client may leave its handshake unfinished; then others begin.
    private static final Duration LONGEST = Duration.ofSeconds(1);

    /// Nothing is opened.
    static final Opening NONE = new Opening() {
        @Override
        public X509Certificate certificate() {
            throw new IllegalStateException("TLS of this connection is not opened");
        }

        @Override
        public void close() {}
    };

    private final FairTurns turns;
    private final HostCertificates certificates;
    private final Duration longest;
    private final WaitLimits limits = new WaitLimits();

    Openings(HostCertificates certificates) {
        this(certificates, AT_ONCE_PER_CORE * Runtime.getRuntime().availableProcessors(), LONGEST);
    }

    /// @param longest time after which others begin although a client has not finished
    Openings(HostCertificates certificates, int atOnce, Duration longest) {
        this.certificates = certificates;
        this.longest = longest;
        this.turns = new FairTurns("TLS is not opened", atOnce, MOST_OF_TEAM, PATIENCE);
    }

    /// A connection whose TLS is being opened, until it is closed, or for the longest time.
    interface Opening extends AutoCloseable {
        /// For the host of the connection.
        X509Certificate certificate();

        @Override
        void close();
    }

    private final class Turned implements Opening, WaitLimits.Wait {
        private final X509Certificate certificate;
        private final FairTurns.Turn turn;
        private final long began = System.nanoTime();
        private final AtomicBoolean over = new AtomicBoolean();

        Turned(X509Certificate certificate, FairTurns.Turn turn) {
            this.certificate = certificate;
            this.turn = turn;
        }

        @Override
        public X509Certificate certificate() {
            return certificate;
        }

        @Override
        public void look(long now) {
            if (now - began > longest.toNanos()) {
                close();
            }
        }

        @Override
        public void close() {
            if (over.compareAndSet(false, true)) {
                limits.remove(this);
                turn.close();
            }
        }
    }

    /// Waits for a certificate, and then for the team's turn.
    Opening begin(String team, String host) throws IOException {
        var certificate = certificates.of(team, host);
        try {
            var opening = new Turned(certificate, turns.take(new TeamId(team)));
            limits.add(opening);
            return opening;
        } catch (CayException e) {
            throw new IOException(e);
        }
    }
}
