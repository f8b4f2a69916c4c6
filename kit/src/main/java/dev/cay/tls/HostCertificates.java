package dev.cay.tls;

import dev.cay.life.FairShare;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// The certificates that an {@link EgressAuthority} has signed, so that most connections need no signature. Each owner
/// has its own: an owner that asks for ever more hosts pushes out its own certificates alone, and nobody can tell by
/// the time of a handshake which hosts others have visited. Thread-safe.
public final class HostCertificates {
    /// Signs, which takes the processor some milliseconds.
    public interface Signer {
        X509Certificate sign(String host);
    }

    private static final int PLACES = 2048;
    private static final Duration RENEW_BEFORE = Duration.ofDays(7);
    private static final Duration IDLE = Duration.ofHours(1);

    /// How many signatures an owner gets at once, and then in each second.
    private static final int AT_ONCE = 100;

    private static final int PER_SECOND = 10;
    private static final long EACH = TimeUnit.SECONDS.toNanos(1) / PER_SECOND;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Signer signer;
    private final InstantSource clock;
    private final FairShare share;

    // Guarded by this.
    private final Map<String, Owner> owners = new HashMap<>();

    public HostCertificates(Signer signer, InstantSource clock) {
        this(signer, clock, PLACES);
    }

    HostCertificates(Signer signer, InstantSource clock, int places) {
        this.signer = signer;
        this.clock = clock;
        this.share = new FairShare(places);
    }

    private static final class Leaf {
        private final X509Certificate certificate;
        private Instant used;

        Leaf(X509Certificate certificate, Instant used) {
            this.certificate = certificate;
            this.used = used;
        }

        boolean isGood(Instant now) {
            return certificate.getNotAfter().toInstant().isAfter(now.plus(RENEW_BEFORE));
        }
    }

    private static final class Owner {
        /// Those that were not used for longest are first.
        private final LinkedHashMap<String, Leaf> leaves = new LinkedHashMap<>(16, 0.75f, true);

        private final Map<String, CompletableFuture<X509Certificate>> pending = new HashMap<>();
        private long next = System.nanoTime() - AT_ONCE * EACH;

        /// The wait for the next signature in nanoseconds; negative if it would be too long.
        long takeTurn() {
            long now = System.nanoTime();
            long turn = Math.max(next - now, -AT_ONCE * EACH);
            if (turn > PATIENCE.toNanos()) {
                return -1;
            }
            next = now + turn + EACH;
            return Math.max(0, turn);
        }
    }

    /// The certificate for a host; the owner's turn for a signature is waited for.
    ///
    /// @throws IOException when the owner has asked for too many other hosts
    public X509Certificate of(String owner, String host) throws IOException {
        var made = new CompletableFuture<X509Certificate>();
        @Nullable CompletableFuture<X509Certificate> other;
        long wait = 0;
        synchronized (this) {
            var own = owners.computeIfAbsent(owner, _ -> new Owner());
            var known = own.leaves.get(host);
            if (known != null && known.isGood(clock.instant())) {
                known.used = clock.instant();
                return known.certificate;
            }
            other = own.pending.get(host);
            if (other == null) {
                wait = own.takeTurn();
                if (wait < 0) {
                    throw new IOException(
                            "certificates for too many hosts were asked for: a team gets %d at once and %d in a second"
                                    .formatted(AT_ONCE, PER_SECOND));
                }
                own.pending.put(host, made);
            }
        }
        if (other != null) {
            return await(other);
        }
        try {
            TimeUnit.NANOSECONDS.sleep(wait);
            var signed = signer.sign(host);
            keep(owner, host, signed);
            made.complete(signed);
            return signed;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("interrupted").initCause(e);
        } finally {
            made.completeExceptionally(new IOException("the signature failed"));
            end(owner, host);
        }
    }

    /// Several connections to one new host need one signature.
    private static X509Certificate await(CompletableFuture<X509Certificate> other) throws IOException {
        try {
            return other.get(2 * PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException("no certificate was signed", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("interrupted").initCause(e);
        }
    }

    private synchronized void end(String owner, String host) {
        var own = owners.get(owner);
        if (own != null) {
            own.pending.remove(host);
        }
    }

    private synchronized void keep(String owner, String host, X509Certificate signed) {
        var own = owners.computeIfAbsent(owner, _ -> new Owner());
        var now = clock.instant();
        if (!own.leaves.containsKey(host) && !hasRoom(owner, now)) {
            if (own.leaves.isEmpty()) {
                return;
            }
            own.leaves.pollFirstEntry();
        }
        own.leaves.put(host, new Leaf(signed, now));
    }

    private boolean hasRoom(String owner, Instant now) {
        if (share.enter(owner)) {
            return true;
        }
        owners.forEach((name, own) -> {
            while (!own.leaves.isEmpty()
                    && own.leaves.firstEntry().getValue().used.isBefore(now.minus(IDLE))) {
                own.leaves.pollFirstEntry();
                share.leave(name);
            }
        });
        owners.values()
                .removeIf(own ->
                        own.leaves.isEmpty() && own.pending.isEmpty() && own.next < System.nanoTime() - AT_ONCE * EACH);
        return share.enter(owner);
    }
}
