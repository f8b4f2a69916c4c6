package dev.cay.server.sandbox;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Allows one state change at a time for each sandbox; other threads can wait for its end.
final class Transitions {
    private final ConcurrentMap<SandboxId, Transition> underWay = new ConcurrentHashMap<>();

    /// One change; closing it admits the next.
    final class Transition implements AutoCloseable {
        private final SandboxId id;
        private final CountDownLatch over = new CountDownLatch(1);
        private volatile @Nullable Boolean resumesWithMemory;
        private volatile @Nullable RuntimeException failure;

        private Transition(SandboxId id) {
            this.id = id;
        }

        SandboxId id() {
            return id;
        }

        /// Notes that this change resumes the sandbox.
        void resumes(boolean memory) {
            resumesWithMemory = memory;
        }

        boolean isResume() {
            return resumesWithMemory != null;
        }

        void failed(RuntimeException e) {
            failure = e;
        }

        /// The failure of this change, for waiting threads that would have tried the same.
        Optional<RuntimeException> failureFor(boolean memory) {
            Boolean tried = resumesWithMemory;
            return tried != null && tried == memory ? Optional.ofNullable(failure) : Optional.empty();
        }

        /// @return whether the change has ended
        boolean await(Duration limit) {
            try {
                return over.await(limit.toMillis(), TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CayException(ErrorKind.CANCELED, "interrupted while the sandbox changed its state", e);
            }
        }

        @Override
        public void close() {
            underWay.remove(id, this);
            over.countDown();
        }
    }

    /// Begins a change; empty while another one runs.
    Optional<Transition> begin(SandboxId id) {
        var mine = new Transition(id);
        return underWay.putIfAbsent(id, mine) == null ? Optional.of(mine) : Optional.empty();
    }

    /// The same, after those that go on; empty when they take too long.
    Optional<Transition> begin(SandboxId id, Duration patience) {
        long end = System.nanoTime() + patience.toNanos();
        while (true) {
            var mine = begin(id);
            Duration left = Duration.ofNanos(end - System.nanoTime());
            if (mine.isPresent()
                    || left.isNegative()
                    || !find(id).map(other -> other.await(left)).orElse(true)) {
                return mine;
            }
        }
    }

    Optional<Transition> find(SandboxId id) {
        return Optional.ofNullable(underWay.get(id));
    }
}
