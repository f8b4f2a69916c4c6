package dev.cay.mcp.protocol.stream;

import dev.cay.life.WaitLimits;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Sends the answer of an exchange whose thread is still working on it.
///
/// Most work takes milliseconds. Then the thread that did it sends the answer itself. If the work takes longer, or
/// there is a message before its end, a second thread sends.
final class SecondSender implements WaitLimits.Wait {
    /// Sends the messages of an outbox to the client.
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

    /// Runs the work; returns when it is done and its messages were sent.
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
