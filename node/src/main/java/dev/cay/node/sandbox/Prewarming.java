package dev.cay.node.sandbox;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.SandboxKind;
import dev.cay.wire.node.SandboxSpec;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Starts sandboxes in advance: spares, and for templates with an interpreter the one that is saved as warm snapshot,
/// from which all others of its kind are restored.
final class Prewarming implements Spares.Maker {
    private static final Logger log = LoggerFactory.getLogger(Prewarming.class);

    /// A warm snapshot that cannot be restored is made again once; if that fails too, the reason is this host, and
    /// sandboxes start cold.
    private static final int MOST_TRIES = 2;

    private static final Duration FILL_LIMIT = Duration.ofMinutes(3);
    private static final Duration LOOK = Duration.ofMillis(100);

    /// Starts a sandbox without an owner.
    interface Starter {
        SandboxKeeper start(SandboxSpec spec);
    }

    private final SavedParts saved;
    private final Starter starter;
    private final Consumer<SandboxId> kill;
    private final SecureRandom random;
    private final SandboxKeeper.Warming warming;
    private final ExecutorService worker =
            Executors.newSingleThreadExecutor(Thread.ofVirtual().name("warming").factory());

    /// The number of tries for each. Guarded by itself.
    private final Map<String, Integer> tries = new HashMap<>();

    Prewarming(
            SavedParts saved,
            Starter starter,
            Consumer<SandboxId> kill,
            SecureRandom random,
            SandboxKeeper.Warming warming) {
        this.saved = saved;
        this.starter = starter;
        this.kill = kill;
        this.random = random;
        this.warming = warming;
    }

    @Override
    public SandboxId make(SandboxKind kind) {
        return starter.start(Spares.nobodys(SandboxId.random(random), kind)).id();
    }

    @Override
    public void end(SandboxId id) {
        kill.accept(id);
    }

    /// Sees to it that there is a warm snapshot of this kind, if it has an interpreter.
    ///
    /// @param then runs when there is one, or will be none; at once where nothing is to be done
    @Override
    public void warm(SandboxKind kind, Runnable then) {
        if (kind.snapshot() != null
                || !saved.warm().isFor(kind)
                || saved.warm().find(kind).isPresent()) {
            then.run();
            return;
        }
        if (!tryNow(kind)) {
            saved.snapshots().deleteLater(saved.warm().name(kind));
            then.run();
            return;
        }
        try {
            worker.execute(() -> {
                try {
                    save(kind);
                } catch (RuntimeException e) {
                    log.atWarn()
                            .setCause(e)
                            .addKeyValue("template", kind.templateId())
                            .log("no warm snapshot could be made; sandboxes of this template start cold");
                }
                if (!worker.isShutdown()) {
                    then.run();
                }
            });
        } catch (RejectedExecutionException e) {
            log.atDebug().log("no sandbox is prewarmed while the node stops");
        }
    }

    private boolean tryNow(SandboxKind kind) {
        synchronized (tries) {
            return tries.merge(saved.warm().name(kind), 1, Integer::sum) <= MOST_TRIES;
        }
    }

    private void save(SandboxKind kind) {
        long began = System.nanoTime();
        String name = saved.warm().name(kind);
        saved.store().delete(name);
        var keeper = starter.start(Spares.nobodys(SandboxId.random(random), kind));
        try {
            keeper.warm(warming);
            awaitOldFiles(name);
            keeper.saving().snapshot(name, Keep.MEMORY);
        } finally {
            kill.accept(keeper.id());
        }
        saved.warm().accept(name);
        saved.warm().removeOthers(kind);
        log.atInfo()
                .addKeyValue("template", kind.templateId())
                .addKeyValue("ms", Duration.ofNanos(System.nanoTime() - began).toMillis())
                .log("warm snapshot made");
    }

    /// Sandboxes may still be filled from an older one of this name, which was deleted.
    private void awaitOldFiles(String name) {
        long end = System.nanoTime() + FILL_LIMIT.toNanos();
        try {
            while (saved.store().isKept(name) && System.nanoTime() < end) {
                Thread.sleep(LOOK);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted while a warm snapshot was made", e);
        }
    }

    /// Does nothing: a sandbox in the making is ended with all others that have no owner.
    @Override
    public void close() {
        worker.shutdownNow();
    }
}
