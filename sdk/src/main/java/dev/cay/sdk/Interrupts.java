package dev.cay.sdk;

/// A call on a thread that was interrupted would end at once; what clears up must not.
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
