package dev.cay.node.process;

import dev.cay.node.guest.Exit;
import dev.cay.node.guest.Streams;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.FdPoller;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.process.ProcessInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A process of a sandbox that was started through its table.
///
/// It counts as ended when it has exited *and* all its output is in the log: a background child that holds the pipe
/// delays that. After a request to kill it, children are not waited for.
public final class SandboxProcess {
    private static final Logger log = LoggerFactory.getLogger(SandboxProcess.class);
    static final int SIGKILL = 9;

    /// Owns processes, and is notified of their ends. Must not block.
    interface Owner {
        /// The process has just ended.
        void ended(SandboxProcess process, Exit exit);

        /// The process had ended before, and clients can still connect to it for a while.
        void retain(SandboxProcess process);
    }

    private final TableParts parts;
    private final Owner owner;
    private final ProcessFolder folder;
    private final ProcessFolder.About about;
    private final int pid;
    private final int described;
    private final Audience audience;
    private final ProcessInput input;
    /// The number of memory kills when this process started.
    private final long memoryKills;
    private final Map<Channel, OutputLog> logs;
    private final List<Pump> pumps = new ArrayList<>();
    private final List<Pump> open;
    private @Nullable Exit exit;
    private boolean asked;
    private boolean killed;
    private boolean over;
    private boolean released;
    private boolean retired;
    private FdPoller.@Nullable Timer deadline;

    /// @param streams null when it ended and was drained before
    SandboxProcess(
            TableParts parts,
            Owner owner,
            ProcessFolder folder,
            ProcessFolder.About about,
            int pid,
            Map<Channel, OutputLog> logs,
            @Nullable Streams streams) {
        this.parts = parts;
        this.owner = owner;
        this.folder = folder;
        this.about = about;
        this.pid = pid;
        this.logs = logs;
        this.described = about.info().getSerializedSize();
        this.memoryKills = about.memoryKills();
        this.audience = new Audience(parts, folder.number(), logs);
        this.input = new ProcessInput(parts, pid, about.terminal(), streams);
        if (streams != null) {
            addPump(Channel.PTY, streams.master(), parts.terminals());
            addPump(streams.terminal() ? Channel.PTY : Channel.STDOUT, streams.stdout(), null);
            addPump(Channel.STDERR, streams.stderr(), null);
        }
        this.open = new ArrayList<>(pumps);
    }

    private void addPump(Channel channel, @Nullable Descriptor source, @Nullable SharedTerminals terminals) {
        OutputLog output = logs.get(channel);
        if (source != null && output != null) {
            var to = new Pump.Destination(pid, audience, this::drained);
            pumps.add(new Pump(to, channel, source, output, parts.workers(), terminals));
        }
    }

    public int pid() {
        return pid;
    }

    /// The process as a list shows it.
    public ProcessInfo info() {
        return about.info().toBuilder().setPid(pid).build();
    }

    /// Approximate memory of {@link #info}.
    int described() {
        return described;
    }

    public String user() {
        return about.user();
    }

    public boolean terminal() {
        return about.terminal();
    }

    /// Whether it runs and was not killed by a client.
    public synchronized boolean running() {
        return exit == null && !killed;
    }

    /// Whether another table continues with it.
    public boolean isElsewhere() {
        return parts.state().isReplaced();
    }

    public ProcessInput input() {
        return input;
    }

    public void resize(Launch.TerminalSize size) {
        if (!terminal()) {
            throw new CayException(ErrorKind.FAILED, "tty not assigned to process");
        }
        parts.guest().resize(pid, size);
    }

    /// Sends SIGKILL or SIGTERM to this one process, not to its children.
    public void signal(int signal) {
        synchronized (this) {
            if (over) {
                throw new Selector.Pid(pid).notFound();
            }
            asked = true;
        }
        if (exited() == null) {
            parts.guest().signal(pid, signal);
        }
        synchronized (this) {
            killed |= signal == SIGKILL;
        }
        if (exited() != null) {
            finishSoon();
        }
    }

    /// Kills it then if it still runs, at once if that time has passed; null for never.
    void killAt(@Nullable Instant when) {
        if (when == null) {
            return;
        }
        Duration left = Duration.between(CommandClock.now(), when);
        var timer = parts.workers().poller().after(left.isNegative() ? Duration.ZERO : left, this::killSoon);
        synchronized (this) {
            deadline = timer;
            if (over || released) {
                timer.cancel();
            }
        }
    }

    /// Kills it, on the poller's thread. A guest need not answer, so no thread that others wait for may ask it.
    private void killSoon() {
        if (parts.state().isClosed()) {
            return;
        }
        Thread.startVirtualThread(() -> {
            try {
                killNow();
            } catch (CayException e) {
                // The next daemon finds the deadline in the folder, and acts on it.
                if (!parts.state().isClosed()) {
                    log.atWarn().setCause(e).addKeyValue("pid", pid).log("a command outlives its time");
                }
            }
        });
    }

    /// Kills it if it runs.
    public void killNow() {
        try {
            signal(SIGKILL);
        } catch (CayException e) {
            if (e.kind() != ErrorKind.NOT_FOUND) {
                throw e;
            }
        }
    }

    Audience audience() {
        return audience;
    }

    ProcessFolder folder() {
        return folder;
    }

    /// Output flows from now on.
    void begin() {
        pumps.forEach(Pump::resume);
        settle();
    }

    void exited(Exit how) {
        boolean hurry;
        synchronized (this) {
            if (exit != null) {
                return;
            }
            exit = explained(how);
            hurry = asked;
        }
        if (hurry) {
            finishSoon();
        }
        settle();
    }

    /// Adds "out of memory" to an exit. The kernel does not say which process it killed; but a process that was killed
    /// by nobody else, while the kernel did kill in this sandbox, was most likely it.
    private Exit explained(Exit how) {
        boolean outOfMemory = how.killed() && !killed && parts.memoryKills().getAsLong() > memoryKills;
        return outOfMemory ? how.becauseOutOfMemory() : how;
    }

    synchronized boolean isOver() {
        return over;
    }

    synchronized boolean awaitsExit() {
        return exit == null;
    }

    /// Marks a process that ended before this table was made.
    void retain(Exit how) {
        synchronized (this) {
            exit = how;
            over = true;
        }
        audience.end(how);
        owner.retain(this);
    }

    private void drained(Pump pump) {
        synchronized (this) {
            open.remove(pump);
        }
        settle();
    }

    /// True for the first caller.
    synchronized boolean retire() {
        boolean first = !retired;
        retired = true;
        return first;
    }

    void release() {
        synchronized (this) {
            released = true;
            if (deadline != null) {
                deadline.cancel();
            }
        }
        pumps.forEach(Pump::close);
        // Also the logs of streams that a guest did not pass.
        logs.values().forEach(OutputLog::close);
        input.release();
        audience.close();
    }

    private synchronized @Nullable Exit exited() {
        return exit;
    }

    private void finishSoon() {
        List<Pump> left;
        synchronized (this) {
            left = List.copyOf(open);
        }
        left.forEach(Pump::finishSoon);
    }

    private void settle() {
        Exit how;
        synchronized (this) {
            if (over || exit == null || !open.isEmpty()) {
                return;
            }
            over = true;
            how = exit;
            if (deadline != null) {
                deadline.cancel();
            }
        }
        input.release();
        audience.end(how);
        owner.ended(this, how);
    }
}
