package dev.cay.life;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/// Work that is done on a thread of its own while its owner goes on with something else. It should hold nothing that
/// has to be closed: an owner that fails meanwhile never asks for the result.
public final class Beside<T> {
    private final CompletableFuture<T> result;

    private Beside(CompletableFuture<T> result) {
        this.result = result;
    }

    public static <T> Beside<T> begin(String name, Supplier<T> work) {
        return new Beside<>(
                CompletableFuture.supplyAsync(work, Thread.ofPlatform().daemon().name(name)::start));
    }

    /// Waits for the end of the work. Throws what it threw.
    public T get() {
        try {
            return result.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException known ? known : e;
        }
    }
}
