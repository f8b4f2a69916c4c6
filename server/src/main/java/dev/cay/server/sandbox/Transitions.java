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
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Allows one state change at a time for each sandbox; other threads can wait for its end.
final class Transitions {
    private final ConcurrentMap<SandboxId, Transition> underWay = new ConcurrentHashMap<>();

    /// One change; closing it admits the next.
    final class Transition implements AutoCloseable {
        private final SandboxId id;
        private final boolean ofSettings;
        private final CountDownLatch over = new CountDownLatch(1);
        private volatile @Nullable Boolean resumesWithMemory;
        private volatile @Nullable RuntimeException failure;

        /// @param ofSettings whether the sandbox keeps its state; such a change is over soon
        private Transition(SandboxId id, boolean ofSettings) {
            this.id = id;
            this.ofSettings = ofSettings;
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

    /// Begins a change of state; empty while another change runs.
    Optional<Transition> begin(SandboxId id) {
        return begin(id, false);
    }

    /// Begins a change of state, after a change of settings that runs; empty while another change of state runs.
    Optional<Transition> begin(SandboxId id, Duration patience) {
        return begin(id, false, patience, other -> other.ofSettings);
    }

    /// Begins a change of settings, after the change that runs; empty when that takes too long.
    Optional<Transition> beginSettings(SandboxId id, Duration patience) {
        return begin(id, true, patience, _ -> true);
    }

    private Optional<Transition> begin(SandboxId id, boolean ofSettings) {
        var mine = new Transition(id, ofSettings);
        return underWay.putIfAbsent(id, mine) == null ? Optional.of(mine) : Optional.empty();
    }

    private Optional<Transition> begin(
            SandboxId id, boolean ofSettings, Duration patience, Predicate<Transition> awaited) {
        long end = System.nanoTime() + patience.toNanos();
        while (true) {
            var mine = begin(id, ofSettings);
            Duration left = Duration.ofNanos(end - System.nanoTime());
            if (mine.isPresent()
                    || left.isNegative()
                    || !find(id).map(other -> awaited.test(other) && other.await(left))
                            .orElse(true)) {
                return mine;
            }
        }
    }

    Optional<Transition> find(SandboxId id) {
        return Optional.ofNullable(underWay.get(id));
    }
}
