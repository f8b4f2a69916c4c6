package dev.cay.node.guest;

/// The exit of a process.
///
/// @param code        its exit status, or -1 when a signal killed it
/// @param signal      the signal that killed it, or 0
/// @param outOfMemory whether the kernel killed it, or a child of it, because the sandbox had no memory left
public record Exit(int code, int signal, boolean coreDumped, boolean outOfMemory) {
    private static final int SIGKILL = 9;
    /// A shell's exit status for a child that was killed.
    private static final int KILLED_BELOW = 128 + SIGKILL;

    private static final String[] SIGNALS = {
        "hangup",
        "interrupt",
        "quit",
        "illegal instruction",
        "trace/breakpoint trap",
        "aborted",
        "bus error",
        "floating point exception",
        "killed",
        "user defined signal 1",
        "segmentation fault",
        "user defined signal 2",
        "broken pipe",
        "alarm clock",
        "terminated"
    };

    public Exit(int code, int signal, boolean coreDumped) {
        this(code, signal, coreDumped, false);
    }

    public Exit becauseOutOfMemory() {
        return new Exit(code, signal, coreDumped, true);
    }

    /// Whether it was killed, by the kernel or by a process.
    public boolean killed() {
        return signal == SIGKILL || code == KILLED_BELOW;
    }

    public boolean bySignal() {
        return signal != 0;
    }

    public boolean success() {
        return !bySignal() && code == 0;
    }

    /// The error, for people to read.
    public String error() {
        return status() + (outOfMemory ? " (out of memory: the sandbox has reached its memory limit)" : "");
    }

    /// The status in the form that clients compare: `exit status 2`, `signal: killed`.
    public String status() {
        if (!bySignal()) {
            return "exit status " + code;
        }
        String name = signal > 0 && signal <= SIGNALS.length ? SIGNALS[signal - 1] : "signal " + signal;
        return "signal: " + name + (coreDumped ? " (core dumped)" : "");
    }
}
