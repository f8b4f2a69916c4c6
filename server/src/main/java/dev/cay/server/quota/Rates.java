package dev.cay.server.quota;

import dev.cay.wire.CayException;
import io.github.bucket4j.Bucket;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Rate limits of one team, or of one key. A whole period's worth may come at once. Thread-safe.
final class Rates {
    static final Rates UNLIMITED = new Rates(Limits.NONE, "");

    private static final Duration CREATES = Duration.ofSeconds(1);
    private static final Duration CALLS = Duration.ofSeconds(30);
    private static final Duration OPERATIONS = Duration.ofMinutes(1);

    private final @Nullable Bucket creates;
    private final @Nullable Bucket calls;
    private final @Nullable Bucket operations;
    private final Limits limits;
    private final String owner;

    /// @param owner the owner of the limits, for messages
    Rates(Limits limits, String owner) {
        this.limits = limits;
        this.owner = owner;
        this.creates = bucket(limits.createsPerSecond(), CREATES);
        this.calls = bucket(limits.apiCallsPer30s(), CALLS);
        this.operations = bucket(limits.operationsPerMinute(), OPERATIONS);
    }

    private static @Nullable Bucket bucket(@Nullable Integer most, Duration period) {
        return most == null
                ? null
                : Bucket.builder()
                        .addLimit(limit -> limit.capacity(most).refillGreedy(most, period))
                        .withNanosecondPrecision()
                        .build();
    }

    void call() {
        take(calls, "%s may send %d requests to the API in 30 seconds", limits.apiCallsPer30s());
    }

    void operation() {
        take(operations, "%s may send %d requests to its sandboxes in a minute", limits.operationsPerMinute());
    }

    void strange() {
        take(
                operations,
                "%s may get %d requests in a minute from clients without its token",
                limits.operationsPerMinute());
    }

    Limits limits() {
        return limits;
    }

    /// Several at once are let through as one is, and what they take too much delays the next.
    void create(int count) {
        take(creates, "%s may create %d sandboxes per second", limits.createsPerSecond());
        if (creates != null && count > 1) {
            creates.consumeIgnoringRateLimits(count - 1);
        }
    }

    /// Takes back what {@link #call} took, because the request is refused for another reason.
    void giveBack() {
        if (calls != null) {
            calls.addTokens(1);
        }
    }

    /// The same for what {@link #operation} took.
    void giveBackOperation() {
        if (operations != null) {
            operations.addTokens(1);
        }
    }

    /// The same for what {@link #create} took.
    void giveBackCreates(int count) {
        if (creates != null) {
            creates.addTokens(count);
        }
    }

    private void take(@Nullable Bucket bucket, String sentence, @Nullable Integer limit) {
        if (bucket == null) {
            return;
        }
        var probe = bucket.tryConsumeAndReturnRemaining(1);
        if (!probe.isConsumed()) {
            throw CayException.exhausted(
                    sentence.formatted(owner, limit) + "; slow down",
                    Duration.ofNanos(probe.getNanosToWaitForRefill()));
        }
    }
}
