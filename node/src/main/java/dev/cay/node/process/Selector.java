package dev.cay.node.process;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;

/// Names a process.
public sealed interface Selector {
    /// The exception for a missing process.
    CayException notFound();

    record Pid(int pid) implements Selector {
        @Override
        public CayException notFound() {
            return new CayException(ErrorKind.NOT_FOUND, "process with pid %d not found".formatted(pid));
        }
    }

    record Tag(String tag) implements Selector {
        @Override
        public CayException notFound() {
            return new CayException(ErrorKind.NOT_FOUND, "process with tag %s not found".formatted(tag));
        }
    }
}
