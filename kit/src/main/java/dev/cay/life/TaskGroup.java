package dev.cay.life;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Virtual threads that live in a try block: the first failure interrupts the rest, and none outlives the block.
public final class TaskGroup implements AutoCloseable {
    /// One piece of the group's work.
    public interface Task {
        void run() throws Exception;
    }

    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
    private final ExecutorCompletionService<Void> finished = new ExecutorCompletionService<>(executor);
    private int started;

    public void run(Task task) {
        started++;
        finished.submit(() -> {
            task.run();
            return null;
        });
    }

    /// Waits for all tasks, and throws what the first failing one threw.
    public void join(Duration limit) throws Exception {
        long end = System.nanoTime() + limit.toNanos();
        for (; started > 0; started--) {
            var task = finished.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (task == null) {
                throw new TimeoutException("not done after " + limit);
            }
            try {
                task.get();
            } catch (ExecutionException e) {
                throw e.getCause() instanceof Exception cause ? cause : e;
            }
        }
    }

    @Override
    public void close() {
        executor.shutdownNow();
        executor.close();
    }
}
