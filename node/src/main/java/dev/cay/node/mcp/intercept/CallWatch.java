package dev.cay.node.mcp.intercept;

import dev.cay.http.Json;
import dev.cay.node.mcp.catalog.Interception.When;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.node.ObjectNode;

/// Has the calls of one sandbox checked by one interceptor after the other, in the order of the configuration.
/// Thread-safe.
public final class CallWatch {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final SandboxId sandbox;
    private final List<Interceptor> all;
    private final Semaphore room;
    private final Semaphore share;

    /// @param room  limit of concurrent checks of all sandboxes
    /// @param share limit of this one
    CallWatch(SandboxId sandbox, List<Interceptor> all, Semaphore room, Semaphore share) {
        this.sandbox = sandbox;
        this.all = all;
        this.room = room;
        this.share = share;
    }

    /// Whether any interceptor checks this call at that time.
    public boolean concerns(When when, String server, String tool) {
        return all.stream().anyMatch(one -> isAbout(one, when, server, tool));
    }

    private static boolean isAbout(Interceptor one, When when, String server, String tool) {
        return one.rule().when() == when && one.rule().concerns(server, tool);
    }

    /// The arguments of a call, or its result, after all interceptors.
    ///
    /// @param tool its name without the server's
    /// @throws CayException with a sentence for the caller, if an interceptor denies the call
    public ObjectNode look(When when, String server, String tool, ObjectNode value) {
        var now = value;
        for (var one : all) {
            if (isAbout(one, when, server, tool)) {
                var question = Json.mapper()
                        .createObjectNode()
                        .put("when", when.word())
                        .put("sandbox", sandbox.value())
                        .put("server", server)
                        .put("tool", tool);
                now = ask(one, question, now);
            }
        }
        return now;
    }

    private ObjectNode ask(Interceptor one, ObjectNode question, ObjectNode value) {
        try {
            enter(share);
            try {
                enter(room);
                try {
                    return one.ask(question, value);
                } finally {
                    room.release();
                }
            } finally {
                share.release();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "the call was called off", e);
        }
    }

    private static void enter(Semaphore semaphore) throws InterruptedException {
        if (!semaphore.tryAcquire(PATIENCE.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new CayException(
                    ErrorKind.EXHAUSTED, "the call was stopped, as too many wait for interceptors; try again later");
        }
    }
}
