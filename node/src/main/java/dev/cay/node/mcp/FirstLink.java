package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.RpcException;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The connection of the first try of a server, kept for a while for the first client that needs one, so that no server
/// starts twice to be used once. Thread-safe.
///
/// On it the server was greeted, and its lists were read, by a client without capabilities: only such a client gets it,
/// because the server would assume the wrong capabilities of another one. It is given out once.
final class FirstLink implements Upstream.Audience, AutoCloseable {
    /// How long it waits for a client.
    static final Duration KEPT = Duration.ofSeconds(30);

    /// Longer than a start may take, including the download of a package.
    private static final Duration LONGEST_START = Duration.ofMinutes(15);

    /// The state of the connection.
    private enum Fate {
        NOT_BEGUN,
        FREE,
        TAKEN,
        GIVEN_UP
    }

    private final Duration kept;
    private final CompletableFuture<Upstream> coming = new CompletableFuture<>();
    private final CountDownLatch settled = new CountDownLatch(1);
    private Fate fate = Fate.NOT_BEGUN;
    private volatile Upstream.@Nullable Audience taker;
    private volatile boolean keeping;

    /// @param kept how long it waits for a client
    FirstLink(Duration kept) {
        this.kept = kept;
    }

    /// Makes clients wait for this connection instead of starting the server themselves.
    synchronized void begin() {
        if (fate == Fate.NOT_BEGUN) {
            fate = Fate.FREE;
        }
    }

    /// Connects. A waiting client gets the connection at once, or the error.
    Upstream open(Upstream.Server server) {
        try {
            var upstream = Upstream.open(server, Json.mapper().createObjectNode(), this);
            coming.complete(upstream);
            return upstream;
        } catch (RuntimeException e) {
            coming.completeExceptionally(e);
            throw e;
        } finally {
            closeIfGivenUp();
        }
    }

    /// Waits for a client, and ends the connection if none comes.
    void keep() throws InterruptedException {
        keeping = true;
        if (!settled.await(kept.toNanos(), TimeUnit.NANOSECONDS)) {
            boolean _ = giveUp();
        }
    }

    /// Gives the connection to a client, if it is free and the client has no more capabilities. Waits until it is
    /// connected.
    ///
    /// @param hello    parameters of the client's `initialize`
    /// @param audience receives the server's messages from now on
    Optional<Upstream> take(ObjectNode hello, Upstream.Audience audience) {
        synchronized (this) {
            if (fate != Fate.FREE || !hello.path("capabilities").isEmpty()) {
                return Optional.empty();
            }
            fate = Fate.TAKEN;
            taker = audience;
        }
        settled.countDown();
        return Optional.of(await()).filter(upstream -> !upstream.isOver());
    }

    private Upstream await() {
        try {
            return coming.get(LONGEST_START.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof CayException || e.getCause() instanceof RpcException) {
                throw (RuntimeException) e.getCause();
            }
            throw new CayException(ErrorKind.INTERNAL, "it could not be tried; the log of Cay says why", e);
        } catch (TimeoutException e) {
            throw new CayException(ErrorKind.DEADLINE_EXCEEDED, "it takes too long to start", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "its start was interrupted", e);
        }
    }

    /// Whether a client took it, which may have ended it since.
    synchronized boolean isTaken() {
        return fate == Fate.TAKEN;
    }

    /// Ends it if no client took it, now or as soon as it is connected.
    ///
    /// @return false if a client took it, or there is none
    boolean giveUp() {
        synchronized (this) {
            boolean free = fate == Fate.FREE;
            if (fate != Fate.TAKEN) {
                fate = Fate.GIVEN_UP;
            }
            if (!free) {
                return false;
            }
        }
        settled.countDown();
        closeIfGivenUp();
        return true;
    }

    private void closeIfGivenUp() {
        synchronized (this) {
            if (fate != Fate.GIVEN_UP) {
                return;
            }
        }
        var _ = coming.thenAccept(Upstream::close);
    }

    @Override
    public void request(Upstream from, Message request, Optional<Upstream.Call> about) {
        var whose = taker;
        if (whose != null) {
            whose.request(from, request, about);
            return;
        }
        var none = new RpcException(RpcException.METHOD_NOT_FOUND, "no client is connected that could answer");
        from.send(Message.error(request.id(), none));
    }

    @Override
    public void notification(Upstream from, Message notification, Optional<Upstream.Call> about) {
        var whose = taker;
        if (whose != null) {
            whose.notification(from, notification, about);
        }
    }

    /// The thread that still tries the server gets the error itself.
    @Override
    public void over(Upstream from, String reason) {
        var whose = taker;
        if (whose != null) {
            whose.over(from, reason);
        } else if (keeping && giveUp()) {
            from.server().failed(reason);
        }
    }

    /// Closes; a client that took it keeps it.
    @Override
    public void close() {
        boolean _ = giveUp();
    }
}
