package dev.cay.node.process;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import org.jspecify.annotations.Nullable;

/// Whether a table of processes is open, and the cursors it has while it is.
final class TableState {
    private @Nullable Cursors cursors;
    private volatile boolean closed;
    private volatile boolean replaced;

    /// Sets the cursors, before there are processes.
    void open(Cursors cursors) {
        this.cursors = cursors;
    }

    Cursors cursors() {
        if (cursors == null) {
            throw new IllegalStateException("adopt comes first");
        }
        return cursors;
    }

    boolean isClosed() {
        return closed;
    }

    /// Whether another table continues with these processes.
    boolean isReplaced() {
        return replaced;
    }

    void requireOpen() {
        if (closed) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the sandbox is being stopped");
        }
    }

    /// Marks the table as closed. Called by one thread at a time.
    ///
    /// @param another whether another table continues
    /// @return false if it was closed before
    boolean close(boolean another) {
        if (closed) {
            return false;
        }
        replaced = another;
        closed = true;
        return true;
    }

    /// Closes the cursors when no process of the table uses them any more.
    void closeCursors() {
        if (cursors != null) {
            cursors.close();
        }
    }
}
