package dev.cay.node.guest;

/// How a process ended.
///
/// @param code   its exit status, or -1 when a signal killed it
/// @param signal what killed it, or 0
public record Exit(int code, int signal, boolean coreDumped) {
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

    public boolean bySignal() {
        return signal != 0;
    }

    public boolean success() {
        return !bySignal() && code == 0;
    }

    /// As clients compare it: `exit status 2`, `signal: killed`.
    public String status() {
        if (!bySignal()) {
            return "exit status " + code;
        }
        String name = signal > 0 && signal <= SIGNALS.length ? SIGNALS[signal - 1] : "signal " + signal;
        return "signal: " + name + (coreDumped ? " (core dumped)" : "");
    }
}
