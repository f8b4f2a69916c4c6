package dev.cay.node.mcp.server;

import dev.cay.mcp.protocol.Message;
import dev.cay.node.guest.Exit;
import dev.cay.node.guest.GuestLink;
import dev.cay.node.guest.Spawn;
import dev.cay.node.lines.LineBuffer;
import dev.cay.node.lines.LineListener;
import dev.cay.node.lines.LineProcess;
import dev.cay.node.lines.LongLines;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.process.Workers;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.ProtocolException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A connection to a server that is a process of its own: messages are lines on its stdin and stdout.
final class ServerProcess implements ServerLink, LineListener {
    private static final Logger log = LoggerFactory.getLogger(ServerProcess.class);

    /// How long one message may wait until the process reads it.
    private static final Duration SEND_LIMIT = Duration.ofSeconds(30);

    /// Between the end of its input, the request to end, and the end.
    private static final Duration GRACE = Duration.ofSeconds(2);

    /// How long the report of an end may take after a failed read.
    private static final Duration MOMENT = Duration.ofSeconds(3);

    /// How often a listener that holds a long message is checked.
    private static final Duration FAIR = Duration.ofSeconds(30);

    private static final int SIGTERM = 15;
    private static final int SIGKILL = 9;

    /// The owner of a process.
    interface Keeper {
        /// The process has ended, by itself or not; its owner forgets it.
        ///
        /// @param reason null when the owner closed it
        void over(ServerProcess process, Duration lived, @Nullable String reason);

        /// All resources of the process are released.
        void gone();

        /// Why the sandbox has ended, if it has.
        @Nullable
        String lost();
    }

    private final String name;
    private volatile Surroundings around;
    private final Listener listener;
    private final Keeper keeper;
    private final LastWords words;
    private volatile LineProcess process;
    private final MessageLines messages = new MessageLines();
    private final ReentrantLock sending = new ReentrantLock(true);
    private final AtomicBoolean ended = new AtomicBoolean();
    private final CountDownLatch told = new CountDownLatch(1);
    private final long began = System.nanoTime();
    private volatile @Nullable String reason;

    private final Absence absence;

    /// The bytes of an incomplete message.
    private byte[] begun = {};

    /// The environment of the process.
    record Surroundings(GuestLink link, Workers workers, LongLines lines) {}

    private ServerProcess(
            String name, Surroundings around, ServerCommand command, Secrets secrets, Listener listener, Keeper keeper)
            throws IOException {
        this.name = name;
        this.around = around;
        this.listener = listener;
        this.keeper = keeper;
        this.absence = new Absence(name);
        this.words = new LastWords(secrets);
        this.process =
                LineProcess.start(around.link(), around.workers(), around.lines(), command.spawn(), words.complaint());
    }

    /// @param made gets the object before any message is delivered
    static ServerProcess start(
            String name,
            Surroundings around,
            ServerCommand command,
            Secrets secrets,
            Listener listener,
            Keeper keeper,
            Consumer<ServerProcess> made)
            throws IOException {
        var process = new ServerProcess(name, around, command, secrets, listener, keeper);
        made.accept(process);
        try {
            process.process.hear(process);
            return process;
        } catch (IOException e) {
            process.ended.set(true);
            keeper.over(process, Duration.ZERO, null);
            process.process.kill();
            throw e;
        }
    }

    @Override
    public void send(Message message) {
        byte[] json = message.bytes();
        byte[] line = Arrays.copyOf(json, json.length + 1);
        line[json.length] = '\n';
        try {
            boolean sent = false;
            while (!sent) {
                absence.awaitEnd();
                if (!sending.tryLock(SEND_LIMIT.toNanos(), TimeUnit.NANOSECONDS)) {
                    throw new CayException(ErrorKind.UNAVAILABLE, "server %s takes too long to read".formatted(name));
                }
                try {
                    requireUsable();
                    sent = !absence.isOn();
                    if (sent) {
                        sendLine(line);
                    }
                } finally {
                    sending.unlock();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "a message was not sent: interrupted", e);
        }
    }

    int pid() {
        return process.pid();
    }

    /// Disconnects from the process, which is about to be suspended with its sandbox: messages in transit are completed
    /// in both directions, and senders wait from then on.
    ///
    /// @param limit for each direction
    void sleep(Duration limit) throws IOException {
        try {
            if (!sending.tryLock(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new IOException("it takes too long to read its input");
            }
            try {
                if (!ended.get()) {
                    absence.begin();
                    begun = process.leave(limit);
                }
            } finally {
                sending.unlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /// Continues after a suspension.
    ///
    /// @param link to the resumed sandbox
    /// @param exit the exit of the process, if it has ended
    void wake(GuestLink link, @Nullable Exit exit) throws IOException {
        var claim = new LineProcess.Claim(link, process.pid());
        around = new Surroundings(link, around.workers(), around.lines());
        process = LineProcess.attach(link, around.workers(), around.lines(), claim, words.complaint(), begun);
        if (exit != null) {
            claim.exited(exit);
        }
        process.hear(this);
        absence.end();
        if (ended.get()) {
            process.kill();
        }
    }

    private void sendLine(byte[] line) {
        try {
            process.send(line, SEND_LIMIT);
        } catch (IOException e) {
            throw notSent(e);
        } catch (CayException e) {
            // The node is too busy, or stops; the message may have been cut off.
            process.giveUp("a message to it was cut off");
            throw e;
        }
    }

    private void requireUsable() {
        if (ended.get()) {
            String why = reason;
            throw new CayException(
                    ErrorKind.UNAVAILABLE, why == null ? "the connection to server %s is closed".formatted(name) : why);
        }
    }

    /// A message that was sent in part cannot be taken back, so that is the end. One that is not taken because the
    /// server has ended is answered with why it did.
    private CayException notSent(IOException e) {
        int errno = e instanceof ErrnoException call ? call.errno() : 0;
        String why = "it does not take messages any more";
        if (errno == Errno.EAGAIN) {
            why = "it did not read its input for %d s".formatted(SEND_LIMIT.toSeconds());
            process.breakOff(why);
            process.signal(SIGKILL);
        } else if (errno != Errno.EPIPE) {
            process.giveUp(why);
        }
        try {
            boolean _ = told.await(MOMENT.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
        requireUsable();
        return new CayException(ErrorKind.UNAVAILABLE, "server %s: %s".formatted(name, why), e);
    }

    @Override
    public void line(byte[] line, LineBuffer lines) throws ProtocolException, InterruptedException {
        if (ended.get()) {
            return;
        }
        var message = messages.read(line);
        if (message.isEmpty()) {
            return;
        }
        if (!lines.isLong()) {
            listener.heard(message.get());
            return;
        }
        try (var _ = new Impatience()) {
            listener.heard(message.get());
        }
    }

    /// Checks whether other messages wait for the memory of a long message that the listener holds, and ends that.
    private final class Impatience implements AutoCloseable {
        private static final int ALL_TIERS = 2;

        private FdPoller.Timer timer;
        private boolean done;

        private Impatience() {
            timer = next();
        }

        private FdPoller.Timer next() {
            return around.workers().poller().after(FAIR, this::look);
        }

        private synchronized void look() {
            if (done) {
                return;
            }
            if (around.lines().isWanted(ALL_TIERS)) {
                process.breakOff("a long message of its was not taken while others waited");
            } else {
                timer = next();
            }
        }

        @Override
        public synchronized void close() {
            done = true;
            timer.cancel();
        }
    }

    @Override
    public void over(String why, @Nullable Exit exit) {
        if (!ended.compareAndSet(false, true)) {
            return;
        }
        String text = sentence(why, exit);
        reason = text;
        told.countDown();
        absence.end();
        keeper.over(this, lived(), text);
        try {
            listener.over(text);
        } finally {
            clear();
        }
    }

    private Duration lived() {
        return Duration.ofNanos(System.nanoTime() - began);
    }

    private String sentence(String why, @Nullable Exit exit) {
        String lost = keeper.lost();
        String what;
        if (!why.isEmpty()) {
            what = "is given up: " + why;
        } else if (lost != null) {
            what = "ended with its sandbox: " + lost;
        } else if (exit == null) {
            what = "closed its output";
        } else if (exit.killed()) {
            what = "ended (%s; perhaps it needs more memory than it may use)".formatted(exit.status());
        } else {
            what = "ended (%s)".formatted(exit.status());
        }
        return "server %s %s%s".formatted(name, what, lastWords());
    }

    @Override
    public String lastWords() {
        String last = words.text();
        return last.isEmpty() ? "" : "; it said last: " + last;
    }

    /// Returns at once; what runs ends within seconds.
    @Override
    public void close() {
        if (ended.compareAndSet(false, true)) {
            absence.end();
            keeper.over(this, lived(), null);
            Thread.ofVirtual().name("server-end").start(this::end);
        }
    }

    /// Closes without cleaning up, because the sandbox ends anyway.
    void abandon() {
        if (ended.compareAndSet(false, true)) {
            absence.end();
            keeper.over(this, lived(), null);
            process.close();
            keeper.gone();
        }
    }

    private void end() {
        try {
            if (keeper.lost() == null) {
                process.closeInput();
            }
            if (!process.awaitExit(GRACE) && keeper.lost() == null) {
                process.signal(SIGTERM);
                boolean _ = process.awaitExit(GRACE);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            clear();
        }
    }

    /// Kills the rest of it and has the guest forget it.
    private void clear() {
        try {
            if (process.awaitExit(Duration.ZERO)) {
                killGroup();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            log.atDebug()
                    .setCause(e)
                    .log("processes of an ended MCP server could not be killed; they end with its sandbox");
        } finally {
            process.kill();
            keeper.gone();
        }
    }

    /// Kills the process group. Children may still run after the leader has ended: the guest signals only groups whose
    /// leader lives. The number cannot be reused while the group has a member.
    private void killGroup() throws IOException, InterruptedException {
        var done = new CountDownLatch(1);
        var command = List.of("/bin/kill", "-KILL", "--", "-" + process.pid());
        var spawn = new Spawn(command, List.of(), "/", 0, 0, List.of(), 0, 0, false, ServerCommand.TAG);
        try (var killer = around.link().spawn(spawn, _ -> done.countDown())) {
            boolean _ = done.await(GRACE.toNanos(), TimeUnit.NANOSECONDS);
            around.link().forget(killer.pid());
        }
    }
}
