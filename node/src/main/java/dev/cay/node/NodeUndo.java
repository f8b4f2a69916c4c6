package dev.cay.node;

import dev.cay.life.Undo;
import dev.cay.node.sandbox.Keepers;
import java.nio.file.Path;

/// How a node lets go of what it took: of its own parts whenever it stops, of the host only when no sandbox is left.
final class NodeUndo implements AutoCloseable {
    private final Path records;
    private final Undo parts = new Undo();
    private final Undo onHost = new Undo();

    /// @param records directory with one folder per sandbox
    NodeUndo(Path records) {
        this.records = records;
    }

    /// A part that is closed when the node stops.
    <T extends AutoCloseable> T add(T part) {
        return parts.add(part);
    }

    /// A change of the host that is undone when a start failed and no sandbox needs the change.
    void onHost(Undo.Step step) {
        onHost.step(step);
    }

    /// Cleans up after a failed start. Keeps what sandboxes of an earlier daemon need, for the next start after the
    /// cause is fixed.
    void giveUp(Exception cause) {
        parts.close();
        try {
            if (Keepers.noneNoted(records)) {
                onHost.close();
            }
        } catch (RuntimeException e) {
            cause.addSuppressed(e);
        }
    }

    @Override
    public void close() {
        parts.close();
    }
}
