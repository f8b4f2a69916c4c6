package dev.cay.prove;

import dev.cay.platform.RemoteSandbox;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;

/// Sandboxes that do honest work all the time, and how long it takes them.
final class Neighbours implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    /// Between two commands of one neighbour: they are to feel load, not to make it.
    private static final Duration PAUSE = Duration.ofMillis(20);

    /// @param failures commands that did not print what they should
    record Pace(int commands, int failures, Duration p50, Duration p99, Duration worst) {
        static Pace of(List<Long> nanos, int failures) {
            var sorted = new ArrayList<>(nanos);
            Collections.sort(sorted);
            return new Pace(sorted.size(), failures, at(sorted, 0.5), at(sorted, 0.99), at(sorted, 1));
        }

        private static Duration at(List<Long> sorted, double share) {
            int index = (int) Math.min(sorted.size() - 1.0, sorted.size() * share);
            return sorted.isEmpty() ? LIMIT : Duration.ofNanos(sorted.get(index));
        }
    }

    private static final List<String> COMMAND = List.of("/bin/bash", "-c", "echo hi");

    private final List<RemoteSandbox> sandboxes = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final List<Long> nanos = new ArrayList<>();
    private int failures;
    private String failure = "";
    private volatile boolean closed;

    Neighbours(Callable<RemoteSandbox> maker, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            var sandbox = maker.call();
            sandboxes.add(sandbox);
            threads.add(Thread.ofPlatform().daemon().name("neighbour-" + i).unstarted(() -> work(sandbox)));
        }
    }

    void start() {
        threads.forEach(Thread::start);
    }

    /// What the commands since the last call took.
    synchronized Pace take() {
        var pace = Pace.of(nanos, failures);
        nanos.clear();
        failures = 0;
        return pace;
    }

    /// Why the last one failed; empty if none did.
    synchronized String failure() {
        return failure;
    }

    private void work(RemoteSandbox sandbox) {
        while (!closed) {
            long begun = System.nanoTime();
            String problem;
            try {
                String said = sandbox.run(COMMAND).strip();
                problem = said.equals("hi") ? "" : "got " + said;
            } catch (IOException | RuntimeException e) {
                problem = e.toString();
            } catch (InterruptedException e) {
                return;
            }
            note(System.nanoTime() - begun, problem);
            try {
                Thread.sleep(PAUSE);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private synchronized void note(long took, String problem) {
        if (closed) {
            return;
        }
        nanos.add(took);
        if (!problem.isEmpty()) {
            failures++;
            failure = problem;
        }
    }

    @Override
    public void close() throws IOException {
        closed = true;
        threads.forEach(Thread::interrupt);
        for (var thread : threads) {
            try {
                thread.join(Duration.ofSeconds(5));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        for (var sandbox : sandboxes) {
            sandbox.close();
        }
    }
}
