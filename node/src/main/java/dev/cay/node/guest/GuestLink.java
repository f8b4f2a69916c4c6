package dev.cay.node.guest;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.NetNamespace;
import dev.cay.node.linux.UnixSocket;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ProtocolException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The connection to one sandbox's guest. Costs a descriptor, not a thread: frames are read by the poller.
///
/// Close it before a checkpoint, and {@link dev.cay.node.process.ProcessTable} before it.
public final class GuestLink implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(GuestLink.class);

    /// Receives reports of the guest. Runs on the poller's thread: must not block.
    public interface Listener {
        void exited(int pid, Exit exit);

        /// The link is lost without a close: the guest died, was replaced, or violated the protocol.
        void lost(String reason);
    }

    private static final String ADDRESS = "cay";

    /// The newest protocol version of this node. A sandbox keeps the guest it was started with, so older ones exist as
    /// long as their sandboxes; {@link #version} says which features are missing. A newer guest speaks all versions
    /// before its own.
    static final int VERSION = 3;

    /// From this version on the guest copies a terminal to two pipes.
    private static final int COPIES_TERMINALS = 3;

    private static final int OK = 128;
    private static final int ERROR = 129;
    private static final int EXIT = 130;
    private static final int FLAG_TERMINAL = 1;
    private static final int FLAG_STDIN = 2;
    private static final int FLAG_STDIN_CLOSED = 4;
    private static final int MAX_WAITING = 1024;
    private static final int MAX_PROCESSES = 65536;
    private static final int MAX_TEXT = 4096;
    private static final int ROUNDS = 16;
    private static final Duration PAUSE = Duration.ofMillis(2);

    private final Descriptor socket;
    private final FdPoller poller;
    private final FdPoller.Watch watch;
    private final Duration limit;
    private final Frames frames = new Frames();
    private final byte[] chunk = new byte[16384];
    private final Map<Integer, PendingRequest<?>> waiting = new ConcurrentHashMap<>();
    private final Map<Integer, Consumer<Exit>> owners = new ConcurrentHashMap<>();
    private final AtomicInteger numbers = new AtomicInteger();

    /// How many further ends of processes are plausible: those that were started, and as many as there can have been
    /// before.
    private final AtomicInteger ends = new AtomicInteger(MAX_PROCESSES);

    private final ReentrantLock sending = new ReentrantLock();
    private final AtomicReference<@Nullable String> end = new AtomicReference<>();
    private volatile @Nullable Listener listener;
    private volatile int version = 1;

    private GuestLink(Descriptor socket, FdPoller poller, Duration limit) {
        this.socket = socket;
        this.poller = poller;
        this.limit = limit;
        this.watch = poller.watch(socket, FdPoller.IN, this::receive);
    }

    /// Connects, exchanges versions, and returns when the guest has answered; retries until `limit` while the guest
    /// does not listen.
    ///
    /// @param limit also of every later request
    public static GuestLink open(NetNamespace network, FdPoller poller, Duration limit) throws IOException {
        return open(network, poller, limit, () -> false);
    }

    /// @param gaveUp whether the guest need not be waited for any more; asked again and again
    public static GuestLink open(NetNamespace network, FdPoller poller, Duration limit, BooleanSupplier gaveUp)
            throws IOException {
        var link = new GuestLink(connect(network, limit, gaveUp), poller, limit);
        try {
            link.watch.resume();
            var hello = link.send(new Request(Request.HELLO).u32(VERSION), (frame, _) -> frame.positive());
            int theirs = hello.await(limit, gaveUp);
            link.version = Math.clamp(theirs, 1, VERSION);
            return link;
        } catch (IOException | RuntimeException e) {
            link.close();
            throw e;
        }
    }

    private static Descriptor connect(NetNamespace network, Duration limit, BooleanSupplier gaveUp) throws IOException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            try {
                return network.connectAbstract(ADDRESS);
            } catch (ErrnoException e) {
                boolean early = e.errno() == Errno.ECONNREFUSED || e.errno() == Errno.EAGAIN;
                if (!early || System.nanoTime() > deadline || gaveUp.getAsBoolean()) {
                    throw e;
                }
            }
            try {
                Thread.sleep(PAUSE);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw (IOException) new InterruptedIOException("interrupted").initCause(e);
            }
        }
    }

    /// The version both sides know.
    public int version() {
        return version;
    }

    /// Sets the listener, before the first process is started or listed; earlier exits are in {@link #list}.
    public void listen(Listener listener) {
        this.listener = listener;
    }

    public Streams spawn(Spawn spawn) throws IOException {
        return spawn(spawn, null);
    }

    /// @param owner gets the process's end instead of the listener
    public Streams spawn(Spawn spawn, @Nullable Consumer<Exit> owner) throws IOException {
        boolean stdin = spawn.stdin() && !spawn.terminal();
        ends.incrementAndGet();
        return ask(Request.spawn(spawn), (frame, lent) -> {
            int pid = frame.positive();
            if (owner != null) {
                owners.put(pid, owner);
            }
            return borrow(pid, spawn.terminal(), stdin, lent);
        });
    }

    /// Sets the owner of a process that was started over an earlier link. Call this before processes are listed, so
    /// that no end is missed.
    public void claim(int pid, Consumer<Exit> owner) {
        owners.put(pid, owner);
    }

    /// The streams of a process that runs, or ended and was not forgotten.
    public Streams attach(int pid) throws IOException {
        return ask(new Request(Request.ATTACH).u32(pid), (frame, lent) -> {
            int flags = frame.positive();
            boolean stdin = (flags & FLAG_STDIN) != 0 && (flags & FLAG_STDIN_CLOSED) == 0;
            return borrow(pid, (flags & FLAG_TERMINAL) != 0, stdin, lent);
        });
    }

    public void signal(int pid, int signal) throws IOException {
        ask(new Request(Request.SIGNAL).u32(pid).u32(signal), (_, _) -> true);
    }

    /// Signals the process group; only the process where the guest is too old.
    public void signalGroup(int pid, int signal) throws IOException {
        int type = version < 2 ? Request.SIGNAL : Request.SIGNAL_GROUP;
        ask(new Request(type).u32(pid).u32(signal), (_, _) -> true);
    }

    public void resize(int pid, int columns, int rows) throws IOException {
        ask(new Request(Request.RESIZE).u32(pid).u16(columns).u16(rows), (_, _) -> true);
    }

    public void closeStdin(int pid) throws IOException {
        ask(new Request(Request.CLOSE_STDIN).u32(pid), (_, _) -> true);
    }

    public List<GuestProcess> list() throws IOException {
        return ask(new Request(Request.LIST), (frame, _) -> {
            int count = frame.positive();
            if (count > MAX_PROCESSES) {
                throw new ProtocolException("too many processes");
            }
            var found = new ArrayList<GuestProcess>();
            for (int i = 0; i < count; i++) {
                int pid = frame.positive();
                frame.i32();
                boolean exited = frame.u8() != 0;
                var exit = new Exit(frame.i32(), frame.i32(), false);
                found.add(new GuestProcess(pid, exited ? exit : null, frame.string(MAX_TEXT)));
            }
            return found;
        });
    }

    /// The guest closes its copies of the streams and forgets how the process ended.
    public void forget(int pid) throws IOException {
        ask(new Request(Request.FORGET).u32(pid), (_, _) -> true);
    }

    /// Whether it was closed or lost.
    public boolean isOver() {
        return end.get() != null;
    }

    @Override
    public void close() {
        if (end.compareAndSet(null, "closed")) {
            release();
        }
    }

    private void lose(String reason) {
        if (end.compareAndSet(null, reason)) {
            log.atWarn().addKeyValue("reason", reason).log("the connection to a guest was lost");
            release();
            Listener told = listener;
            if (told != null) {
                told.lost(reason);
            }
        }
    }

    private void release() {
        watch.close();
        socket.close();
        synchronized (frames) {
            frames.close();
        }
        waiting.values().forEach(PendingRequest::cancel);
        waiting.clear();
    }

    private <T> T ask(Request request, AnswerDecoder<T> decoder) throws IOException {
        return send(request, decoder).await(limit);
    }

    private <T> PendingRequest<T> send(Request request, AnswerDecoder<T> decoder) throws IOException {
        var answer = new PendingRequest<>(decoder);
        int number = numbers.updateAndGet(n -> n == Integer.MAX_VALUE ? 1 : n + 1);
        if (waiting.size() >= MAX_WAITING) {
            throw new SilentGuestException("too many requests wait for the guest already");
        }
        byte[] frame = request.frame(number);
        waiting.put(number, answer);
        try {
            send(frame);
        } catch (IOException e) {
            lose("cannot send: " + e.getMessage());
            throw (SilentGuestException) new SilentGuestException("the guest cannot be reached").initCause(e);
        }
        if (end.get() != null) {
            answer.cancel();
        }
        return answer;
    }

    /// Sends one frame at a time. After a partial frame the link cannot be used any more.
    private void send(byte[] frame) throws IOException {
        sending.lock();
        try {
            for (int sent = 0; sent < frame.length; ) {
                try {
                    sent += UnixSocket.send(socket, frame, sent, frame.length - sent);
                } catch (ErrnoException e) {
                    if (e.errno() != Errno.EAGAIN || !poller.awaitWritable(socket, limit)) {
                        throw e;
                    }
                }
            }
        } finally {
            sending.unlock();
        }
    }

    private void receive() {
        try {
            synchronized (frames) {
                receiveSome();
            }
        } catch (ErrnoException e) {
            if (e.errno() != Errno.EAGAIN) {
                lose(e.toString());
            }
        } catch (IOException | RuntimeException e) {
            lose(String.valueOf(e.getMessage()));
        }
    }

    private void receiveSome() throws IOException {
        for (int i = 0; i < ROUNDS; i++) {
            var received = UnixSocket.receive(socket, chunk, 0, chunk.length);
            frames.add(chunk, received.length(), received.descriptors());
            if (received.cut()) {
                throw new ProtocolException("too many descriptors at once");
            }
            if (received.length() == 0) {
                throw new ProtocolException("the guest closed the link");
            }
            for (var frame = frames.next(); frame != null; frame = frames.next()) {
                accept(frame);
            }
            frames.checkRest();
            if (received.length() < chunk.length) {
                // Most likely these were all bytes; if not, the poller reports more.
                return;
            }
        }
    }

    private void accept(Frames.Frame frame) throws IOException {
        if (frame.type() == EXIT) {
            int pid = frame.positive();
            var exit = new Exit(frame.i32(), frame.i32(), frame.u8() != 0);
            frame.end();
            if (ends.decrementAndGet() < 0) {
                throw new ProtocolException("more processes ended than there were");
            }
            tell(pid, exit);
            return;
        }
        var answer = waiting.remove(frame.request());
        if (answer == null) {
            throw new ProtocolException("an answer without a request");
        }
        switch (frame.type()) {
            case OK -> answer.decode(frame, frames);
            case ERROR -> answer.fail(frame.positive(), frame.string(MAX_TEXT));
            default -> throw new ProtocolException("frame of unknown type");
        }
    }

    private void tell(int pid, Exit exit) {
        var owner = owners.remove(pid);
        Listener told = listener;
        if (owner != null) {
            owner.accept(exit);
        } else if (told != null) {
            told.exited(pid, exit);
        }
    }

    private Streams borrow(int pid, boolean terminal, boolean stdin, Frames lent) throws IOException {
        var kind = !terminal
                ? stdin ? Streams.Kind.PIPES_WITH_STDIN : Streams.Kind.PIPES
                : version < COPIES_TERMINALS ? Streams.Kind.SHARED_TERMINAL : Streams.Kind.COPIED_TERMINAL;
        return Streams.borrow(pid, kind, lent.take(kind.count()));
    }
}
