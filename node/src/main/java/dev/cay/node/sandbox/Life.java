package dev.cay.node.sandbox;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;

/// The stage of a sandbox on its node. Its keeper's thread changes it, every thread may read it.
///
/// ```
///   STARTING ──► OPEN ◄──► PAUSED        OPEN ──► LEFT
///      │                     ▲
///      └── adopted paused ───┘
///
///   STARTING, OPEN, PAUSED ──► ENDING ──► ENDED
/// ```
///
/// OPEN and PAUSED may be entered again, as when a frozen sandbox is saved. ENDING is entered again with each attempt
/// to remove the sandbox's resources. A sandbox that is PAUSED when the daemon stops stays PAUSED.
final class Life {
    enum Stage {
        STARTING,
        OPEN,
        PAUSED,
        /// Its resources are being removed, or one of them could not be removed and the node tries again.
        ENDING,
        ENDED,
        /// The daemon stops, the sandbox does not.
        LEFT;

        private boolean mayBecome(Stage next) {
            return switch (this) {
                case STARTING -> next == OPEN || next == PAUSED || next == ENDING;
                case OPEN -> next == OPEN || next == PAUSED || next == LEFT || next == ENDING;
                case PAUSED -> next == PAUSED || next == OPEN || next == ENDING;
                case ENDING -> next == ENDING || next == ENDED;
                case ENDED, LEFT -> false;
            };
        }
    }

    private final SandboxId id;
    private volatile Stage stage = Stage.STARTING;
    private volatile boolean doomed;

    Life(SandboxId id) {
        this.id = id;
    }

    Stage stage() {
        return stage;
    }

    boolean is(Stage wanted) {
        return stage == wanted;
    }

    void enter(Stage next) {
        if (!stage.mayBecome(next)) {
            throw new IllegalStateException("sandbox %s is %s and cannot become %s".formatted(id, stage, next));
        }
        stage = next;
    }

    /// Whether its end was requested.
    boolean doomed() {
        return doomed;
    }

    /// Requests its end; a start in progress gives up.
    void doom() {
        doomed = true;
    }

    void requireWanted() {
        if (doomed) {
            throw new CayException(ErrorKind.CANCELED, "sandbox %s was killed while it started".formatted(id));
        }
    }

    void requireOpen() {
        if (stage != Stage.OPEN) {
            throw notRunning();
        }
    }

    void requirePaused() {
        requireWanted();
        if (stage != Stage.PAUSED) {
            throw notRunning();
        }
    }

    CayException notRunning() {
        return new CayException(ErrorKind.NOT_FOUND, "sandbox %s is not running".formatted(id));
    }
}
