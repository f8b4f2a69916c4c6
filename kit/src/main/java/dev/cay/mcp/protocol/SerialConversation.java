package dev.cay.mcp.protocol;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A conversation that many threads speak to, one after the other. What breaks in it is an answer too.
public final class SerialConversation implements Conversation {
    private static final Logger log = LoggerFactory.getLogger(SerialConversation.class);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);

    private final Conversation conversation;
    private final ReentrantLock turn = new ReentrantLock(true);
    private final AtomicBoolean closed = new AtomicBoolean();

    public SerialConversation(Conversation conversation) {
        this.conversation = conversation;
    }

    @Override
    public void request(Message request, Reply reply) {
        inTurn(() -> answered(request, reply, () -> conversation.request(request, reply)));
    }

    /// The work is done outside of the turn.
    @Override
    public Optional<Runnable> begin(Message request, Reply reply) {
        var left = new AtomicReference<Optional<Runnable>>(Optional.empty());
        inTurn(() -> answered(request, reply, () -> left.set(conversation.begin(request, reply))));
        return left.get().map(work -> () -> answered(request, reply, work));
    }

    private static void answered(Message request, Reply reply, Runnable words) {
        try {
            words.run();
        } catch (RpcException e) {
            reply.end(Message.error(request.id(), e));
        } catch (RuntimeException e) {
            log.atError().setCause(e).addKeyValue("method", request.method()).log("a request failed unexpectedly");
            var error = new RpcException(RpcException.INTERNAL_ERROR, "this failed inside the server");
            reply.end(Message.error(request.id(), error));
        }
    }

    @Override
    public void notification(Message notification) {
        inTurn(() -> quietly(() -> conversation.notification(notification)));
    }

    @Override
    public void response(Message response) {
        inTurn(() -> quietly(() -> conversation.response(response)));
    }

    /// Runs a notification and ignores its failure, because it has no answer.
    private static void quietly(Runnable words) {
        try {
            words.run();
        } catch (RuntimeException e) {
            log.atWarn().setCause(e).log("an MCP notification could not be handled");
        }
    }

    private void inTurn(Runnable words) {
        try {
            if (!turn.tryLock(LONGEST_WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new Refusal(503, "the server is busy; try again");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Refusal(503, "the server is stopping");
        }
        try {
            words.run();
        } finally {
            turn.unlock();
        }
    }

    /// Closes without waiting for the current call, because that call may be what has to end.
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            conversation.close();
        }
    }
}
