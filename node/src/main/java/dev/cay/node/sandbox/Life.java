package dev.cay.node.sandbox;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;

/// Where in its life a sandbox is, as its keeper's thread decides and everybody may ask.
///
/// ```
///   STARTING ──► OPEN ◄──► PAUSED      OPEN ──► LEFT
///       └─────────┴──────────┴──► RESISTED ──► OVER
/// ```
///
/// Each end goes through RESISTED, and stays there if something would not go.
final class Life {
    enum Stage {
        STARTING,
        OPEN,
        PAUSED,
        /// Its end was tried, and something would not go.
        RESISTED,
        OVER,
        /// The daemon stops, the sandbox does not.
        LEFT;

        private boolean mayBecome(Stage next) {
            return switch (this) {
                case STARTING -> next == OPEN || next == PAUSED || next == RESISTED;
                case OPEN -> next == OPEN || next == PAUSED || next == LEFT || next == RESISTED;
                case PAUSED -> next == PAUSED || next == OPEN || next == RESISTED;
                case RESISTED -> next == RESISTED || next == OVER;
                case OVER, LEFT -> false;
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

    /// Whether somebody asked for its end.
    boolean doomed() {
        return doomed;
    }

    /// Somebody wants its end; a start that is under way gives up.
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
