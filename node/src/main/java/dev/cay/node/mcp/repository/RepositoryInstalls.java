package dev.cay.node.mcp.repository;

import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Installs servers from repositories in the background, one install for each plan at a time. Thread-safe.
///
/// How many there are is limited by the side sandboxes that their owners may have.
public final class RepositoryInstalls implements AutoCloseable {
    /// Longer than the limit of the programs, because their files are copied afterwards.
    private static final Duration LIMIT = RepositoryLayers.LIMIT.plusMinutes(1);

    /// A running install.
    private static final class Job {
        private volatile String progress = "";
        private @Nullable Future<RepositoryLayers.Ready> result;
    }

    private final RepositoryLayers layers;
    private final IdentityHashMap<LaunchPlan, Job> jobs = new IdentityHashMap<>();

    /// The work blocks on the disk, which virtual threads must not.
    private final ExecutorService threads = Executors.newCachedThreadPool(
            Thread.ofPlatform().daemon().name("repository-", 0).factory());

    public RepositoryInstalls(RepositoryLayers layers) {
        this.layers = layers;
    }

    /// Installs and waits, with a limit. Callers with the same plan share one install.
    ///
    /// @param base layers below, top first
    public RepositoryLayers.Ready require(
            SandboxId owner, LaunchPlan plan, LaunchPlan.Repository start, List<String> base) {
        var work = begin(owner, plan, start, base);
        try {
            return work.get(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof CayException known
                    ? new CayException(known.kind(), known.userMessage(), known)
                    : new CayException(
                            ErrorKind.INTERNAL, "%s could not be installed".formatted(plan.key()), e.getCause());
        } catch (TimeoutException e) {
            work.cancel(true);
            throw new CayException(
                    ErrorKind.FAILED,
                    "%s could not be installed within %d minutes".formatted(plan.key(), LIMIT.toMinutes()),
                    e);
        } catch (CancellationException e) {
            throw new CayException(ErrorKind.CANCELED, "the install of %s was stopped".formatted(plan.key()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "the wait for %s was interrupted".formatted(plan.key()), e);
        }
    }

    private synchronized Future<RepositoryLayers.Ready> begin(
            SandboxId owner, LaunchPlan plan, LaunchPlan.Repository start, List<String> base) {
        var known = jobs.get(plan);
        if (known != null && known.result != null) {
            return known.result;
        }
        if (threads.isShutdown()) {
            throw new CayException(ErrorKind.UNAVAILABLE, "Cay is being stopped");
        }
        var job = new Job();
        var result = threads.submit(() -> {
            try {
                return layers.require(owner, plan.key(), start, base, said -> job.progress = said);
            } finally {
                ended(plan, job);
            }
        });
        job.result = result;
        jobs.put(plan, job);
        return result;
    }

    private synchronized void ended(LaunchPlan plan, Job job) {
        if (jobs.get(plan) == job) {
            jobs.remove(plan);
        }
    }

    /// The progress for this plan; empty without an install.
    public synchronized String progress(LaunchPlan plan) {
        var job = jobs.get(plan);
        return job == null ? "" : job.progress;
    }

    /// Stops the install of this plan. Another sandbox that needs the same layers makes them itself.
    public synchronized void cancel(LaunchPlan plan) {
        var job = jobs.remove(plan);
        if (job != null && job.result != null) {
            job.result.cancel(true);
        }
    }

    /// Stops all that is being done.
    @Override
    public void close() {
        threads.shutdownNow();
    }
}
