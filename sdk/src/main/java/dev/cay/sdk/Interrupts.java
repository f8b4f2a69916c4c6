package dev.cay.sdk;

/// Runs clean-up on a thread that was interrupted, where any call would otherwise end at once.
final class Interrupts {
    private Interrupts() {}

    static void holdDuring(Runnable cleanUp) {
        boolean interrupted = Thread.interrupted();
        try {
            cleanUp.run();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
