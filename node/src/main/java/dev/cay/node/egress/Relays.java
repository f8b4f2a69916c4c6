package dev.cay.node.egress;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// The threads that move bytes of all connections on the path, and their pipes. Thread-safe.
final class Relays implements AutoCloseable {
    private static final int MOST_THREADS = 4;

    private final List<RelayLoop> loops = new ArrayList<>();
    private final Pipes pipes = new Pipes();
    private final AtomicInteger turn = new AtomicInteger();

    /// @param idle how long both directions of a connection may be silent
    Relays(Duration idle) throws IOException {
        int count = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, MOST_THREADS);
        for (int i = 0; i < count; i++) {
            loops.add(new RelayLoop(idle));
        }
    }

    void start() {
        loops.forEach(RelayLoop::start);
    }

    /// The thread for one more connection.
    RelayLoop next() {
        return loops.get(Math.floorMod(turn.getAndIncrement(), loops.size()));
    }

    Pipes pipes() {
        return pipes;
    }

    @Override
    public void close() {
        loops.forEach(RelayLoop::close);
        pipes.close();
    }
}
