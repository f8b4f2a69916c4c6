package dev.cay.node.mcp.server;

import dev.cay.node.guest.GuestLink;
import dev.cay.node.guest.GuestProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// The processes of a server, each of which is a connection to it. Thread-safe.
final class ServerProcesses {
    private static final int SIGKILL = 9;

    private final Set<ServerProcess> connected = ConcurrentHashMap.newKeySet();

    void add(ServerProcess process) {
        connected.add(process);
    }

    void remove(ServerProcess process) {
        connected.remove(process);
    }

    boolean isEmpty() {
        return connected.isEmpty();
    }

    /// @param limit how long what is being said to one of them may take
    void sleep(Duration limit) throws IOException {
        for (var process : connected) {
            process.sleep(limit);
        }
    }

    /// Goes on with all of them. What nobody is connected to any more ends.
    ///
    /// @param link to the sandbox that is back
    /// @throws IOException when one of them is gone
    void wake(GuestLink link) throws IOException {
        var running = new HashMap<Integer, GuestProcess>();
        link.list().forEach(process -> running.put(process.pid(), process));
        for (var process : connected) {
            var found = running.remove(process.pid());
            if (found == null) {
                throw new IOException("a process of it has ended");
            }
            process.wake(link, found.exit());
        }
        for (var left : running.values()) {
            if (left.exit() == null) {
                link.signalGroup(left.pid(), SIGKILL);
            }
            link.forget(left.pid());
        }
    }

    /// All of them are over, and clients hear why.
    void giveUp(String reason) {
        List.copyOf(connected).forEach(process -> process.over(reason, null));
    }

    /// Ends all of them.
    void abandon() {
        List.copyOf(connected).forEach(ServerProcess::abandon);
    }
}
