package dev.cay.mcp.protocol.stream;

import dev.cay.life.WaitLimits;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Carries an answer while the thread of its exchange still does the work for it.
///
/// Most work is done within milliseconds. Then the thread that did it carries the answer, and no other thread is
/// needed. When the work takes longer, or something is to be told before it is done, a second thread carries.
final class SecondSender implements WaitLimits.Wait {
    /// Sends to the client what is in an outbox.
    interface Carrying {
        void run() throws IOException, InterruptedException;
    }

    private final Outbox box;
    private final long deadline;
    private final Carrying carrying;
    private @Nullable Thread second;
    private boolean worked;
    private volatile @Nullable Throwable failure;

    /// @param deadline by `System.nanoTime()`: when the client is to hear something though the work is not done
    SecondSender(Outbox box, long deadline, Carrying carrying) {
        this.box = box;
        this.deadline = deadline;
        this.carrying = carrying;
    }

    /// Returns when the work is done and what came of it has been carried.
    void during(Runnable work, WaitLimits limits) throws IOException, InterruptedException {
        limits.add(this);
        try {
            work.run();
        } finally {
            limits.remove(this);
        }
        var other = workDone();
        if (other == null) {
            carrying.run();
        } else {
            join(other);
        }
    }

    private synchronized @Nullable Thread workDone() {
        worked = true;
        return second;
    }

    @Override
    public synchronized void look(long now) {
        if (!worked && second == null && (now - deadline >= 0 || box.hasNews())) {
            second = Thread.ofVirtual().name("mcp-carry").start(this::carry);
        }
    }

    private void carry() {
        try {
            carrying.run();
        } catch (Throwable e) {
            failure = e;
        }
    }

    private void join(Thread other) throws IOException, InterruptedException {
        try {
            other.join();
        } catch (InterruptedException e) {
            other.interrupt();
            throw e;
        }
        switch (failure) {
            case null -> {}
            case IOException e -> throw e;
            case InterruptedException e -> throw e;
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable e -> throw new IOException(e);
        }
    }
}
