package dev.cay.prove.escape;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// A helper of `cay-probe` that runs until it is closed, and has said its first line when it is made.
final class Partner implements AutoCloseable {
    private static final int LIMIT_SECONDS = 20;

    private final Process process;
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final CountDownLatch ready = new CountDownLatch(1);

    Partner(List<String> command) throws IOException {
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        Thread.ofPlatform().daemon().name("partner").start(this::read);
        try {
            if (!ready.await(LIMIT_SECONDS, TimeUnit.SECONDS) || !process.isAlive()) {
                process.destroyForcibly();
                throw new IOException("%s did not come up: %s".formatted(command, lines));
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private void read() {
        try {
            process.inputReader().lines().forEach(line -> {
                lines.add(line);
                ready.countDown();
            });
        } catch (UncheckedIOException _) {
            // It was closed while we listened.
        }
        ready.countDown();
    }

    Process process() {
        return process;
    }

    /// What it has said so far.
    List<String> lines() {
        return new ArrayList<>(lines);
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly()
                .onExit()
                .orTimeout(LIMIT_SECONDS, TimeUnit.SECONDS)
                .join();
    }
}
