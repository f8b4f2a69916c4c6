package dev.cay.runner;

/// The threads of one cell, as far as they can be told.
final class CellThreads extends ThreadGroup {
    CellThreads() {
        super("cell");
    }

    @Override
    public void uncaughtException(Thread thread, Throwable problem) {
        if (!(problem instanceof CellStopped)) {
            super.uncaughtException(thread, problem);
        }
    }
}
