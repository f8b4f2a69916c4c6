package dev.cay.sdk;

import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Watches a directory until it is closed or the sandbox ends.
public final class Watch implements AutoCloseable {
    private final Frames frames;
    private final Consumer<FileEvent> listener;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile @Nullable SandboxException failure;

    private Watch(Frames frames, Consumer<FileEvent> listener) {
        this.frames = frames;
        this.listener = listener;
    }

    /// Starts a watch. Returns when it is active: no later change is missed.
    static Watch over(Frames frames, Consumer<FileEvent> listener) {
        frames.first();
        var watch = new Watch(frames, listener);
        Thread.ofVirtual().name("cay-sdk-watch").start(watch::follow);
        return watch;
    }

    private void follow() {
        try (frames) {
            for (var message = frames.next(); message.isPresent(); message = frames.next()) {
                FileEvent.of(message.get().path("filesystem")).ifPresent(listener);
            }
        } catch (SandboxException e) {
            failure = e;
        } catch (RuntimeException e) {
            failure = new SandboxException(SandboxException.Kind.FAILED, "the listener failed: " + e, e);
        } finally {
            ended.countDown();
        }
    }

    /// Whether the watch is active.
    public boolean isOpen() {
        return ended.getCount() > 0;
    }

    /// Why the watch ended; null while it is active, or after {@link #close}.
    public @Nullable SandboxException failure() {
        return failure == null || failure.kind() == SandboxException.Kind.CONFLICT ? null : failure;
    }

    @Override
    public void close() {
        frames.close();
    }
}
