package dev.cay.prove;

import java.util.List;
import java.util.regex.Pattern;

/// An attack on a shared resource, and its expected result.
///
/// @param name     function in `attacks.py` or `attacks_on_node.py`
/// @param what     for the table
/// @param expected found in the output when the attack was stopped as it should be
/// @param template of the sandbox it is tried in
record Attack(String name, String what, Pattern expected, String template) {
    static final String INTERPRETER = "code-interpreter-lite";

    private static final String KILLED = "out of memory";

    /// An allowed load that neighbours notice anyway.
    static final Attack COMPUTING = attack("spin", "16 busy loops", "time");

    /// All attacks, in order.
    static final List<Attack> ALL = List.of(
            COMPUTING,
            attack("forks", "fork bomb", "EAGAIN|" + KILLED),
            attack("memory", "memory hogs", "SIGKILL"),
            attack("shared_memory", "memory that is nobody's", "ENOSPC"),
            attack("disk", "full disk, again and again", "EDQUOT|ENOSPC"),
            attack("fsyncs", "fsync from eight processes", "EDQUOT|ENOSPC|time"),
            attack("inodes", "empty files with long names", "EDQUOT|ENOSPC|time"),
            attack("directory", "one huge directory, listed", "more than 100000 entries|\"entries\""),
            attack("descriptors", "open files", "EMFILE|ENFILE|" + KILLED),
            attack("output", "100 loud commands", "blocked|xxx"),
            attack("gigabyte", "1 GiB of output", "xxx"),
            attack("kills", "kill -9 -1, and pid 1", "alive"),
            attack("connections", "new flows, inside and out", "time"),
            attack("inotify", "inotify by 900 users", "EMFILE|" + KILLED),
            attack("terminals", "terminals", "ENOSPC"),
            attack("aio", "asynchronous I/O contexts", "ENOSYS"),
            attack("arp", "forged ARP requests", "EPERM|EAFNOSUPPORT|time"),
            attack("sockets", "memory behind sockets", "time|most|ENOBUFS|ENOMEM|" + KILLED),
            attack("pipes", "memory behind pipes", "most|EMFILE|EPERM|" + KILLED),
            attack("ipc", "semaphores, queues", "ENOSPC|EMFILE|ENOMEM"),
            attack("epolls", "epoll sets", "EMFILE|ENOSPC|" + KILLED),
            attack("names", "names that do not exist", "time|" + KILLED),
            attack("node", "connections to the node's ports", "431"),
            attack("messages", "60 MB messages, 12 at a time", "EPIPE|ECONNRESET|429|TimeoutError"),
            onInterpreter("results", "24 results of 30 MB, for clients that read nothing", "\"reasons\": ..time"),
            attack("questions", "DNS questions", "time"),
            attack("namespaces", "namespaces and keys", "\"count\": 0"));

    private static Attack attack(String name, String what, String expected) {
        return new Attack(name, what, Pattern.compile(expected), "base");
    }

    private static Attack onInterpreter(String name, String what, String expected) {
        return new Attack(name, what, Pattern.compile(expected), INTERPRETER);
    }

    boolean endedWell(String outcome) {
        return expected.matcher(outcome).find();
    }
}
