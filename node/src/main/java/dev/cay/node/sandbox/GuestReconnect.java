package dev.cay.node.sandbox;

import dev.cay.node.runtime.Container;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Opens a sandbox that an earlier daemon left running, once its guest answers.
///
/// The guest shares the sandbox's processor time. Where other processes take all of it, the guest answers only after
/// seconds: requests for this sandbox wait for that, the start of the daemon does not. A guest that exceeds the limit
/// for one answer is asked again, because the sandbox would be lost otherwise.
final class GuestReconnect {
    private static final Logger log = LoggerFactory.getLogger(GuestReconnect.class);

    /// Number of tries; each has the time limit of a guest's answer.
    private static final int TRIES = 5;

    private final ContainerRuntime runtime;
    private final SandboxId id;
    private final Life life;
    private final Doors doors;
    private volatile boolean underWay;
    private volatile boolean left;

    GuestReconnect(ContainerRuntime runtime, SandboxId id, Life life, Doors doors) {
        this.runtime = runtime;
        this.id = id;
        this.life = life;
        this.doors = doors;
    }

    /// Makes requests wait for {@link #run} from now on.
    void announce() {
        underWay = true;
        doors.expect();
    }

    /// Opens the sandbox. Runs on the keeper's thread.
    ///
    /// @param turns bounds how many sandboxes are opened at the same time
    /// @return why the sandbox must end; null when it is open, or when another thread ends it
    @Nullable
    String run(Semaphore turns) {
        turns.acquireUninterruptibly();
        try {
            return open();
        } finally {
            underWay = false;
            turns.release();
        }
    }

    private @Nullable String open() {
        String failure = null;
        for (int i = 0; i < TRIES && !life.doomed() && !left; i++) {
            var container = runtime.find(id);
            if (container.isEmpty()) {
                return "its first process ended";
            }
            failure = open(container.get());
            if (failure == null) {
                return null;
            }
        }
        return life.doomed() || left ? null : failure;
    }

    private @Nullable String open(Container container) {
        try {
            doors.open(container);
            return null;
        } catch (IOException | CayException e) {
            if (!life.doomed() && !left) {
                log.atWarn()
                        .addKeyValue("sandbox", id)
                        .addKeyValue("reason", e.getMessage())
                        .log("a sandbox of the last daemon could not be opened");
            }
            return "its guest does not answer: " + e.getMessage();
        }
    }

    /// Stops waiting for the guest, because the sandbox is being ended.
    void end() {
        if (!underWay) {
            return;
        }
        try {
            runtime.kill(id);
        } catch (CayException e) {
            // The thread that removes the sandbox tries again, and reports failures.
            log.atDebug()
                    .setCause(e)
                    .addKeyValue("sandbox", id)
                    .log("the processes of a sandbox could not be killed; its removal tries again");
        }
    }

    /// The daemon stops; the next one opens the sandbox.
    void leave() {
        left = true;
    }
}
