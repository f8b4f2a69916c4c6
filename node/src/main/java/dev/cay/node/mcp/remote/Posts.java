package dev.cay.node.mcp.remote;

import dev.cay.mcp.protocol.Message;
import dev.cay.web.Dialer;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The messages of one connection that are being sent to the server.
///
/// A request is answered when its work is done, so nothing waits for that. All other messages are accepted at once, and
/// the sender waits for that: later messages must not overtake them.
final class Posts {
    private static final Logger log = LoggerFactory.getLogger(Posts.class);
    private static final int MOST = 32;

    interface Post {
        void send(Message message) throws IOException;
    }

    private final String server;
    private final InboundMessages inbound;
    private final Duration patience;
    private final Semaphore free = new Semaphore(MOST);

    /// @param patience for one of those under way to end
    Posts(String server, InboundMessages inbound, Duration patience) {
        this.server = server;
        this.inbound = inbound;
        this.patience = patience;
    }

    void send(Message message, Post post) {
        inbound.requireOpen();
        take();
        if (message.kind() == Message.Kind.REQUEST) {
            Thread.ofVirtual().name("mcp-remote").start(() -> {
                try {
                    post.send(message);
                } catch (IOException | RuntimeException e) {
                    inbound.over(sentence(e));
                } finally {
                    free.release();
                }
            });
            return;
        }
        try {
            post.send(message);
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, sentence(e), e);
        } finally {
            free.release();
        }
    }

    private void take() {
        try {
            if (free.tryAcquire(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new CayException(
                ErrorKind.EXHAUSTED, "%s has %d requests to answer already; try again later".formatted(server, MOST));
    }

    String sentence(Exception failure) {
        return switch (failure) {
            case CayException refused -> "%s cannot be called: %s".formatted(server, refused.userMessage());
            case IOException broken -> "%s cannot be reached: %s".formatted(server, Dialer.why(broken));
            default -> {
                log.atError().setCause(failure).addKeyValue("server", server).log("a message was not sent");
                yield server + " cannot be called because of a fault of ours";
            }
        };
    }
}
