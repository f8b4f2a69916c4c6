package dev.cay.node.interpreter;

import java.util.Arrays;

/// An event from a runner. User code shares its process and can forge all of them, so they affect only the stream of
/// the running cell.
sealed interface RunnerEvent {
    record Ready(long number) implements RunnerEvent {}

    record Refused(long number, String reason) implements RunnerEvent {}

    record Begin(long cell, long count) implements RunnerEvent {}

    record Printed(boolean toStderr, String text) implements RunnerEvent {}

    record Failed(String name, String value, String traceback) implements RunnerEvent {}

    record End(long cell) implements RunnerEvent {}

    /// The process has ended.
    record Over(String complaint) implements RunnerEvent {}

    /// A value to be shown. Stays as it came: as a tree it could take ten times the memory.
    record Shown(byte[] line) implements RunnerEvent {
        @Override
        public boolean equals(Object other) {
            return other instanceof Shown shown && Arrays.equals(line, shown.line);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(line);
        }

        @Override
        public String toString() {
            return "Shown[%d bytes]".formatted(line.length);
        }
    }
}
