package dev.cay.runner;

/// Unwinds the threads of a cell that was interrupted.
///
/// It is not an exception, so that code which handles its failures does not handle this.
final class CellStopped extends Error {
    CellStopped() {
        super("the cell was interrupted", null, false, false);
    }
}
