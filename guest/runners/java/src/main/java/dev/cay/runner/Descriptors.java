package dev.cay.runner;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/// Takes the node's pipes out of reach of cells, and reads what child processes and native code print instead.
final class Descriptors {
    static final int REQUESTS = 240;
    static final int EVENTS = 241;

    private static final int BUFFER = 64 << 10;
    private static final int ROUNDS = 4;

    private final Libc.Pipe out;
    private final Libc.Pipe err;
    private final Libc.Waiting waiting;
    private final MemorySegment buffer;
    private @Nullable Events events;

    private Descriptors(Libc.Pipe out, Libc.Pipe err, Arena arena) {
        this.out = out;
        this.err = err;
        waiting = new Libc.Waiting(arena, out.readEnd(), err.readEnd());
        buffer = arena.allocate(BUFFER);
    }

    /// Must be the first thing this process does.
    static Descriptors take() {
        Libc.copy(0, REQUESTS, Libc.CLOSE_ON_EXEC);
        Libc.copy(1, EVENTS, Libc.CLOSE_ON_EXEC);
        Libc.copy(Libc.open("/dev/null", Libc.READ_ONLY | Libc.CLOSE_ON_EXEC), 0, 0);
        var descriptors = new Descriptors(Libc.pipe(), Libc.pipe(), Arena.global());
        descriptors.renew();
        return descriptors;
    }

    /// Closing a stream of descriptor 1 or 2 makes the JDK point it to `/dev/null`: points them here again.
    void renew() {
        Libc.copy(out.writeEnd(), 1, 0);
        Libc.copy(err.writeEnd(), 2, 0);
    }

    void start(Events to) {
        synchronized (this) {
            events = to;
        }
        Thread.ofPlatform().name("cay output").daemon().start(() -> {
            try (var arena = Arena.ofConfined()) {
                var own = new Libc.Waiting(arena, out.readEnd(), err.readEnd());
                while (true) {
                    if (own.any(-1)) {
                        drain();
                    }
                }
            }
        });
    }

    /// Passes on what was printed until now: no more than fits into the pipes, as a child may print for ever.
    synchronized void drain() {
        for (int round = 0; round < ROUNDS && waiting.any(0); round++) {
            pass(0, out.readEnd(), Events.Channel.OUT);
            pass(1, err.readEnd(), Events.Channel.ERR);
        }
    }

    private void pass(int index, int descriptor, Events.Channel channel) {
        if (!waiting.readable(index) || events == null) {
            return;
        }
        int count = Libc.read(descriptor, buffer);
        if (count > 0) {
            events.print(channel, buffer.asSlice(0, count).toArray(ValueLayout.JAVA_BYTE), 0, count);
        }
    }
}
