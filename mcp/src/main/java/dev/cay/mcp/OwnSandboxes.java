package dev.cay.mcp;

import dev.cay.http.Json;
import dev.cay.sdk.Cay;
import dev.cay.sdk.NewSandbox;
import dev.cay.sdk.Sandbox;
import dev.cay.sdk.SandboxException;
import dev.cay.sdk.SandboxInfo;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/// The sandboxes that were made for one client: never more than it may have, and none left when it goes.
final class OwnSandboxes implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(OwnSandboxes.class);
    private static final Duration FAREWELL = Duration.ofSeconds(20);

    /// Lifetime of a temporary sandbox, which serves one call; no call takes longer.
    private static final Duration TEMPORARY = Duration.ofMinutes(10);

    private final Cay cay;
    private final String template;
    private final int most;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Sandbox> sandboxes = new LinkedHashMap<>();
    private final Condition changed = lock.newCondition();
    private int beingMade;
    private int temporary;
    private int made;
    private int killed;
    private boolean closed;

    OwnSandboxes(Cay cay, String template, int most) {
        this.cay = cay;
        this.template = template;
        this.most = most;
    }

    /// A place is taken before the sandbox is made, so that calls at the same time cannot exceed the limit together.
    Sandbox create(Duration timeout) {
        takePlace();
        try {
            var sandbox = cay.create(NewSandbox.of(template).livingFor(timeout));
            if (!keep(sandbox)) {
                sandbox.kill();
                throw new ToolException("the client disconnected");
            }
            return sandbox;
        } finally {
            change(() -> beingMade--);
        }
    }

    private void takePlace() {
        if (!tryPlace()) {
            forgetThoseThatEnded();
            if (!tryPlace()) {
                throw new ToolException("Maximum number of sandboxes (%d) reached".formatted(most));
            }
        }
    }

    private boolean tryPlace() {
        lock.lock();
        try {
            boolean room = sandboxes.size() + beingMade < most;
            beingMade += room ? 1 : 0;
            return room;
        } finally {
            lock.unlock();
        }
    }

    private boolean keep(Sandbox sandbox) {
        lock.lock();
        try {
            if (!closed) {
                sandboxes.put(sandbox.id(), sandbox);
                made++;
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    private void change(Runnable change) {
        lock.lock();
        try {
            change.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Forgets sandboxes that have ended. Only those known before the list was requested count as missing: one that
    /// was made meanwhile may not be in it.
    private void forgetThoseThatEnded() {
        var ended = new HashSet<>(ids());
        cay.list().stream().map(SandboxInfo::id).forEach(ended::remove);
        lock.lock();
        try {
            sandboxes.keySet().removeAll(ended);
        } finally {
            lock.unlock();
        }
    }

    Sandbox require(String id) {
        lock.lock();
        try {
            var sandbox = sandboxes.get(id);
            if (sandbox == null) {
                throw notFound(id);
            }
            return sandbox;
        } finally {
            lock.unlock();
        }
    }

    static ToolException notFound(String id) {
        return new ToolException("Sandbox %s not found".formatted(id));
    }

    /// Runs work in a sandbox for one call, which does not count towards the limit.
    <T> T inTemporary(Function<Sandbox, T> work) {
        change(() -> temporary++);
        try (var sandbox = cay.create(NewSandbox.of(template).livingFor(TEMPORARY))) {
            return work.apply(sandbox);
        } finally {
            change(() -> temporary--);
        }
    }

    List<String> ids() {
        lock.lock();
        try {
            return List.copyOf(sandboxes.keySet());
        } finally {
            lock.unlock();
        }
    }

    int most() {
        return most;
    }

    void kill(String id) {
        var sandbox = require(id);
        sandbox.kill();
        forget(id);
    }

    void forget(String id) {
        lock.lock();
        try {
            killed += sandboxes.remove(id) == null ? 0 : 1;
        } finally {
            lock.unlock();
        }
    }

    JsonNode statistics() {
        lock.lock();
        try {
            var statistics = Json.mapper().createObjectNode();
            var ids = statistics.putArray("sandbox_ids");
            sandboxes.keySet().forEach(ids::add);
            return statistics
                    .put("active_sandboxes", sandboxes.size())
                    .put("max_sandboxes", most)
                    .put("total_created", made)
                    .put("total_killed", killed);
        } finally {
            lock.unlock();
        }
    }

    /// Kills all sandboxes at the same time, because the program is about to be stopped. Waits for those that are
    /// being made, or used by a call.
    @Override
    public void close() {
        long deadline = System.nanoTime() + FAREWELL.toNanos();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        lock.lock();
        try {
            closed = true;
            sandboxes.values().forEach(sandbox -> threads.execute(() -> kill(sandbox)));
            sandboxes.clear();
            threads.shutdown();
            boolean late = false;
            while (beingMade + temporary > 0 && !late) {
                late = changed.awaitNanos(deadline - System.nanoTime()) <= 0;
            }
            if (!threads.awaitTermination(deadline - System.nanoTime(), TimeUnit.NANOSECONDS) || late) {
                log.warn("not every sandbox could be ended; their time will");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    private static void kill(Sandbox sandbox) {
        try {
            sandbox.kill();
        } catch (SandboxException e) {
            log.atWarn().setCause(e).addKeyValue("sandbox", sandbox.id()).log("a sandbox could not be ended");
        }
    }
}
