package dev.cay.node.mcp;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Lets threads wait until it is known how the start of a server goes. Thread-safe.
final class OutcomeWait {
    /// Most starts prepare something, and find at once that nothing is missing. Only a preparation that takes longer
    /// is an outcome.
    private static final Duration MOMENT = Duration.ofMillis(50);

    private final BooleanSupplier known;
    private final Set<CompletableFuture<@Nullable Void>> waiting = ConcurrentHashMap.newKeySet();

    /// @param known whether there is an outcome now; must not block
    OutcomeWait(BooleanSupplier known) {
        this.known = known;
    }

    /// Completes when there is an outcome. Who does not wait any more cancels it.
    CompletableFuture<@Nullable Void> begin() {
        var wait = new CompletableFuture<@Nullable Void>();
        waiting.add(wait);
        var _ = wait.whenComplete((_, _) -> waiting.removeIf(CompletableFuture::isDone));
        changed();
        return wait;
    }

    /// To be called after each change that may be an outcome.
    void changed() {
        if (!waiting.isEmpty() && known.getAsBoolean()) {
            List.copyOf(waiting).forEach(wait -> wait.complete(null));
        }
    }

    /// To be called when something is about to be prepared.
    void prepares() {
        CompletableFuture.delayedExecutor(MOMENT.toMillis(), TimeUnit.MILLISECONDS)
                .execute(this::changed);
    }
}
