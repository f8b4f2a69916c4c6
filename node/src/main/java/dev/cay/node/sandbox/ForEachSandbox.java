package dev.cay.node.sandbox;

import dev.cay.life.TaskGroup;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Does the same with many sandboxes.
final class ForEachSandbox {
    private static final Logger log = LoggerFactory.getLogger(ForEachSandbox.class);
    private static final Duration EACH = Duration.ofMinutes(2);
    private static final int AT_ONCE = 2 * Runtime.getRuntime().availableProcessors();

    private ForEachSandbox() {}

    /// Runs the action for several sandboxes at a time, but not for so many that all of them reach their time limits.
    /// A failure for one sandbox does not stop the others.
    static void each(Collection<SandboxId> ids, Consumer<SandboxId> action) {
        each(ids, AT_ONCE, action);
    }

    static void each(Collection<SandboxId> ids, int atOnce, Consumer<SandboxId> action) {
        var turns = new Semaphore(atOnce);
        try (var tasks = new TaskGroup()) {
            for (var id : ids) {
                tasks.run(() -> {
                    turns.acquire();
                    try {
                        action.accept(id);
                    } catch (RuntimeException e) {
                        log.atError()
                                .setCause(e)
                                .addKeyValue("sandbox", id)
                                .log("an action on a sandbox failed; the other sandboxes are handled");
                    } finally {
                        turns.release();
                    }
                });
            }
            tasks.join(EACH.multipliedBy(1 + ids.size() / atOnce));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "the work on all sandboxes was interrupted", e);
        } catch (Exception e) {
            throw new CayException(ErrorKind.INTERNAL, "not all sandboxes could be handled", e);
        }
    }
}
