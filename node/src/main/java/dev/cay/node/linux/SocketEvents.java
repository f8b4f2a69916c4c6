package dev.cay.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.LongConsumer;

/// Tells one thread which of many sockets changed, by epoll. Edge-triggered: a socket is reported once when it
/// becomes readable or writable, and has to be used until it would block. Closing a socket takes it out.
///
/// Any thread may call {@link #add} and {@link #wake}; one thread calls {@link #await}.
public final class SocketEvents implements AutoCloseable {
    private static final NativeCall CREATE = NativeCall.of("epoll_create1");
    private static final NativeCall CONTROL = NativeCall.of("epoll_ctl");
    private static final NativeCall WAIT = NativeCall.of("epoll_wait");
    private static final NativeCall EVENTFD = NativeCall.of("eventfd");
    private static final int ADD = 1;
    private static final int IN = 1;
    private static final int OUT = 4;
    private static final int READ_HANG_UP = 0x2000;
    private static final int ONCE = 1 << 30;
    private static final int EDGE_TRIGGERED = 1 << 31;
    private static final int BATCH = 256;
    private static final long WAKE = -1;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment events = arena.allocate((long) Cpu.HERE.epollEvent() * BATCH, 8);
    private final Descriptor epoll;
    private final Descriptor wake;

    public SocketEvents() throws ErrnoException {
        epoll = new Descriptor(CREATE.call(FileCalls.CLOEXEC));
        wake = new Descriptor(EVENTFD.call(0, FileCalls.CLOEXEC | FileCalls.NONBLOCK));
        control(wake, IN | EDGE_TRIGGERED, WAKE);
    }

    /// Reports events of the socket from now on, first for its current state.
    ///
    /// @param id identifies it in reports; not negative
    public void add(Descriptor socket, long id) throws ErrnoException {
        control(socket, IN | OUT | READ_HANG_UP | EDGE_TRIGGERED, id);
    }

    /// Reports the socket once, when there is something to read.
    public void addOnce(Descriptor socket, long id) throws ErrnoException {
        control(socket, IN | READ_HANG_UP | ONCE, id);
    }

    private void control(Descriptor descriptor, int wanted, long id) throws ErrnoException {
        int set = epoll.use("epoll_ctl");
        try (var memory = Arena.ofConfined()) {
            int fd = descriptor.use("epoll_ctl");
            try {
                MemorySegment event = memory.allocate(Cpu.HERE.epollEvent(), 8);
                event.set(ValueLayout.JAVA_INT, 0, wanted);
                event.set(ValueLayout.JAVA_LONG_UNALIGNED, Cpu.HERE.epollData(), id);
                CONTROL.call(memory, set, ADD, fd, event.address());
            } finally {
                descriptor.done();
            }
        } finally {
            epoll.done();
        }
    }

    /// Waits for something to happen, at most so many milliseconds, and reports it.
    public void await(int milliseconds, LongConsumer ready) throws ErrnoException {
        int count;
        int fd = epoll.use("epoll_wait");
        try (var memory = Arena.ofConfined()) {
            count = (int) WAIT.call(memory, fd, events.address(), BATCH, milliseconds);
        } finally {
            epoll.done();
        }
        for (int i = 0; i < count; i++) {
            long at = (long) i * Cpu.HERE.epollEvent() + Cpu.HERE.epollData();
            long id = events.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
            if (id != WAKE) {
                ready.accept(id);
            }
        }
    }

    /// Makes {@link #await} return.
    public void wake() {
        try {
            // Edge-triggered: each write is an event, so the counter need not be read.
            DescriptorIo.write(wake, new byte[] {1, 0, 0, 0, 0, 0, 0, 0}, 0, 8);
        } catch (ErrnoException _) {
            // It is closed.
        }
    }

    /// Called by the waiting thread, or after it has ended.
    @Override
    public void close() {
        wake.close();
        epoll.close();
        arena.close();
    }
}
