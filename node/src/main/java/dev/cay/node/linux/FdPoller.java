package dev.cay.node.linux;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One thread that watches all borrowed descriptors by epoll, and keeps short timers. Start it once per node.
///
/// Level-triggered, and a paused descriptor is removed from the set: a hang-up is reported whatever events were asked
/// for, and would spin.
public final class FdPoller implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(FdPoller.class);

    /// Runs on the poller's thread: must not block.
    public interface Callback {
        void ready();
    }

    /// A timer that has not run yet, or has.
    public interface Timer {
        void cancel();
    }

    public static final int IN = 1;
    public static final int OUT = 4;
    private static final int HANG_UP = 16;

    private static final NativeCall CREATE = NativeCall.of("epoll_create1");
    private static final NativeCall CONTROL = NativeCall.of("epoll_ctl");
    private static final NativeCall WAIT = NativeCall.of("epoll_wait");
    private static final NativeCall EVENTFD = NativeCall.of("eventfd");
    private static final int ADD = 1;
    private static final int DELETE = 2;
    private static final int BATCH = 128;
    private static final long WAKE = 0;

    private final Descriptor epoll;
    private final Descriptor wake;
    private final Map<Long, Watch> watches = new ConcurrentHashMap<>();
    private final AtomicLong ids = new AtomicLong(WAKE);
    private final TreeSet<Alarm> alarms = new TreeSet<>();
    private final Thread thread = Thread.ofPlatform().daemon().name("fd-poller").unstarted(this::work);
    private volatile boolean closed;

    public FdPoller() throws IOException {
        epoll = new Descriptor(CREATE.call(FileCalls.CLOEXEC));
        wake = new Descriptor(EVENTFD.call(0, FileCalls.CLOEXEC | FileCalls.NONBLOCK));
        control(ADD, wake, IN, WAKE);
    }

    public void start() {
        thread.start();
    }

    /// Watches from the moment `resume` is called. The same descriptor may be watched only once: duplicate it.
    public Watch watch(Descriptor descriptor, int events, Callback callback) {
        return new Watch(descriptor, events, callback);
    }

    /// Waits until the descriptor is writable, at most `limit`; false when that has passed.
    public boolean awaitWritable(Descriptor descriptor, Duration limit) throws IOException {
        var writable = new CountDownLatch(1);
        try (var twin = DescriptorIo.duplicate(descriptor);
                var watch = watch(twin, OUT, writable::countDown)) {
            watch.resume();
            return writable.await(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("interrupted").initCause(e);
        }
    }

    /// Runs the action on the poller's thread after the delay.
    public Timer after(Duration delay, Runnable action) {
        var alarm = new Alarm(System.nanoTime() + delay.toNanos(), ids.incrementAndGet(), action);
        boolean first;
        synchronized (alarms) {
            alarms.add(alarm);
            first = alarms.first().equals(alarm);
        }
        if (first) {
            wakeUp();
        }
        return () -> {
            synchronized (alarms) {
                alarms.remove(alarm);
            }
        };
    }

    /// The number of waiting timers.
    public int timers() {
        synchronized (alarms) {
            return alarms.size();
        }
    }

    /// Stops watching; the descriptors are their owners' to close.
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (thread.isAlive()) {
            wakeUp();
            try {
                thread.join(Duration.ofSeconds(5));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        wake.close();
        epoll.close();
    }

    private void wakeUp() {
        try {
            DescriptorIo.write(wake, new byte[] {1, 0, 0, 0, 0, 0, 0, 0}, 0, 8);
        } catch (ErrnoException e) {
            // A full pipe means that the thread is awake already; a closed one that there is no thread.
            log.atDebug().setCause(e).log("the descriptor poller was not woken");
        }
    }

    private void control(int operation, Descriptor descriptor, int events, long id) throws ErrnoException {
        int set = epoll.use("epoll_ctl");
        try (var arena = Arena.ofConfined()) {
            int fd = descriptor.use("epoll_ctl");
            try {
                MemorySegment event = arena.allocate(Cpu.HERE.epollEvent(), 8);
                event.set(ValueLayout.JAVA_INT, 0, events);
                event.set(ValueLayout.JAVA_LONG_UNALIGNED, Cpu.HERE.epollData(), id);
                CONTROL.call(arena, set, operation, fd, event.address());
            } finally {
                descriptor.done();
            }
        } finally {
            epoll.done();
        }
    }

    private void work() {
        try (var arena = Arena.ofConfined()) {
            MemorySegment events = arena.allocate((long) Cpu.HERE.epollEvent() * BATCH, 8);
            while (!closed) {
                int count = await(events);
                for (int i = 0; i < count && !closed; i++) {
                    long at = (long) i * Cpu.HERE.epollEvent();
                    dispatch(
                            events.get(ValueLayout.JAVA_LONG_UNALIGNED, at + Cpu.HERE.epollData()),
                            events.get(ValueLayout.JAVA_INT_UNALIGNED, at));
                }
                ringAlarms();
            }
        } catch (ErrnoException e) {
            log.atError().setCause(e).log("the descriptor poller failed and ends");
        }
    }

    private int await(MemorySegment events) throws ErrnoException {
        int fd = epoll.use("epoll_wait");
        try {
            return (int) WAIT.call(fd, events.address(), BATCH, patience());
        } finally {
            epoll.done();
        }
    }

    private void dispatch(long id, int events) {
        if (id == WAKE) {
            try {
                DescriptorIo.read(wake, new byte[8], 0, 8);
            } catch (ErrnoException e) {
                log.atDebug().setCause(e).log("the descriptor poller was already awake");
            }
            return;
        }
        Watch watch = watches.get(id);
        if (watch != null) {
            watch.fire(events);
        }
    }

    private int patience() {
        synchronized (alarms) {
            if (alarms.isEmpty()) {
                return -1;
            }
            long millis = TimeUnit.NANOSECONDS.toMillis(alarms.first().at() - System.nanoTime()) + 1;
            return Math.clamp(millis, 0, 3_600_000);
        }
    }

    private void ringAlarms() {
        for (Alarm due = takeDue(); due != null; due = takeDue()) {
            try {
                due.action().run();
            } catch (RuntimeException e) {
                log.atError().setCause(e).log("a timer's action failed");
            }
        }
    }

    private @Nullable Alarm takeDue() {
        synchronized (alarms) {
            boolean due = !alarms.isEmpty() && alarms.first().at() - System.nanoTime() <= 0;
            return due ? alarms.pollFirst() : null;
        }
    }

    /// @param number tells two of the same moment apart
    private record Alarm(long at, long number, Runnable action) implements Comparable<Alarm> {
        @Override
        public int compareTo(Alarm other) {
            int byTime = Long.signum(at - other.at);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }

    /// A watched descriptor. Safe from any thread; close it before the descriptor.
    public final class Watch implements AutoCloseable {
        private final long id = ids.incrementAndGet();
        private final Descriptor descriptor;
        private final int events;
        private final Callback callback;
        private boolean active;
        private boolean ended;
        private volatile int seen;

        private Watch(Descriptor descriptor, int events, Callback callback) {
            this.descriptor = descriptor;
            this.events = events;
            this.callback = callback;
        }

        public synchronized void resume() throws ErrnoException {
            if (active || ended) {
                return;
            }
            watches.put(id, this);
            control(ADD, descriptor, events, id);
            active = true;
        }

        /// Takes the descriptor out of the set; nothing is lost, the data stays where it is.
        public synchronized void pause() {
            if (!active) {
                return;
            }
            active = false;
            watches.remove(id);
            try {
                control(DELETE, descriptor, 0, id);
            } catch (ErrnoException e) {
                log.atDebug().setCause(e).log("a descriptor was not in the epoll set");
            }
        }

        /// Ends the watch, not the descriptor.
        @Override
        public synchronized void close() {
            pause();
            ended = true;
        }

        /// Whether the other end was closed when this last became ready.
        public boolean hungUp() {
            return (seen & HANG_UP) != 0;
        }

        private void fire(int events) {
            seen = events;
            try {
                callback.ready();
            } catch (RuntimeException e) {
                log.atError()
                        .setCause(e)
                        .addKeyValue("descriptor", descriptor.number())
                        .log("a callback of the descriptor poller failed");
                close();
            }
        }
    }
}
