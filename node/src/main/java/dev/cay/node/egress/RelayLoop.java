package dev.cay.node.egress;

import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.SocketEvents;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Queue;
import java.util.SequencedSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One thread that moves the bytes of many relays. A thread for each relay would be woken for every few packets, which
/// costs more than moving the bytes.
final class RelayLoop implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RelayLoop.class);
    private static final Duration CHECK = Duration.ofSeconds(5);

    private final SocketEvents events;
    private final Duration idle;
    private final Thread thread;

    /// Requests of other threads.
    private final Queue<Runnable> orders = new ConcurrentLinkedQueue<>();
    private final Map<Long, Relay> relays = new HashMap<>();
    private final SequencedSet<Relay> busy = new LinkedHashSet<>();
    private long ids;
    private volatile boolean closed;

    /// @param idle how long both directions of a relay may be silent
    RelayLoop(Duration idle) throws IOException {
        this.events = new SocketEvents();
        this.idle = idle;
        this.thread = Thread.ofPlatform().daemon().name("egress-relay").unstarted(this::work);
    }

    void start() {
        thread.start();
    }

    /// Moves bytes of a relay until it ends or {@link #forget} is called.
    void take(Relay relay) {
        order(() -> begin(relay));
        if (closed) {
            relay.stop();
        }
    }

    /// Checks a relay that may be able to continue.
    void again(Relay relay) {
        order(() -> busy.add(relay));
    }

    /// Forgets an ended relay. Call this before its sockets are closed.
    void forget(Relay relay) {
        relay.stop();
        // Not urgent: the thread handles it with the next event.
        orders.add(() -> {
            relays.values().remove(relay);
            busy.remove(relay);
            relay.release();
        });
    }

    private void order(Runnable action) {
        orders.add(action);
        events.wake();
    }

    private void begin(Relay relay) {
        if (closed || relay.ended()) {
            relay.stop();
            return;
        }
        long id = ids++;
        relays.put(id, relay);
        try {
            events.add(relay.guest().descriptor(), id);
            events.add(relay.server().descriptor(), id);
        } catch (ErrnoException e) {
            relay.fail(e);
        }
    }

    private void work() {
        long checked = System.nanoTime();
        try {
            while (!closed) {
                events.await(busy.isEmpty() ? Math.toIntExact(CHECK.toMillis()) : 0, this::mark);
                for (var order = orders.poll(); order != null; order = orders.poll()) {
                    order.run();
                }
                moveOnce();
                if (System.nanoTime() - checked > CHECK.toNanos()) {
                    checked = System.nanoTime();
                    relays.values().forEach(relay -> relay.endIfIdle(idle));
                }
            }
        } catch (IOException | RuntimeException e) {
            log.atError()
                    .setCause(e)
                    .log("the relay thread of the egress path failed; connections of sandboxes are not relayed");
        } finally {
            closed = true;
            relays.values().forEach(relay -> relay.fail(new IOException("the node ends")));
            relays.values().forEach(Relay::release);
            events.close();
        }
    }

    private void mark(long id) {
        var relay = relays.get(id);
        if (relay != null) {
            busy.add(relay);
        }
    }

    /// A turn for each; one with more to move has its next turn after all others.
    private void moveOnce() {
        for (int left = busy.size(); left > 0; left--) {
            var relay = busy.removeFirst();
            if (relay.move()) {
                busy.add(relay);
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        events.wake();
    }
}
