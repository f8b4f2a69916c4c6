package dev.cay.node.mcp;

import dev.cay.mcp.protocol.RpcException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

/// How long a client waits for servers.
final class ServerWait {
    /// How often to check whether a late server is being installed.
    private static final Duration LOOK = Duration.ofMillis(50);

    private ServerWait() {}

    /// Refuses with a sentence for the client when nothing comes.
    static <T> T get(GatewayServer server, CompletableFuture<T> coming, Duration patience) {
        try {
            return coming.get(Math.max(patience.toNanos(), 0), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new RpcException(
                    RpcException.INTERNAL_ERROR, "%s is still being started; try again".formatted(server.key()));
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RpcException known
                    ? known
                    : new RpcException(RpcException.INTERNAL_ERROR, String.valueOf(e.getCause()));
        } catch (InterruptedException e) {
            throw calledOff();
        }
    }

    /// Waits until all are ready, or only those are late that are being installed: that may take minutes, and the
    /// others' items can be listed at once. If there is nothing else to list, it waits for these too.
    ///
    /// @param coming the result of each server, in the same order
    static <T> void forAll(List<GatewayServer> servers, List<CompletableFuture<T>> coming, Duration patience) {
        long deadline = System.nanoTime() + patience.toNanos();
        while (System.nanoTime() < deadline) {
            var late = IntStream.range(0, servers.size())
                    .filter(i -> !coming.get(i).isDone())
                    .boxed()
                    .toList();
            boolean some = coming.stream().anyMatch(each -> each.isDone() && !each.isCompletedExceptionally());
            if (late.isEmpty()
                    || (some && late.stream().allMatch(i -> servers.get(i).isPreparing()))) {
                return;
            }
            await(late.stream().map(coming::get).toArray(CompletableFuture[]::new));
        }
    }

    /// Waits briefly for one of them.
    private static void await(CompletableFuture<?>[] late) {
        try {
            var _ = CompletableFuture.anyOf(late).get(LOOK.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | ExecutionException _) {
            // The caller checks again.
        } catch (InterruptedException e) {
            throw calledOff();
        }
    }

    private static RpcException calledOff() {
        Thread.currentThread().interrupt();
        return new RpcException(RpcException.INTERNAL_ERROR, "called off");
    }
}
