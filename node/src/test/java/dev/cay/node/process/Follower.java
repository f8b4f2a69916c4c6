package dev.cay.node.process;

import dev.cay.node.guest.GuestLink;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.HostThreads;
import dev.cay.node.linux.NetNamespace;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// A daemon of its own, made to be killed: starts a script, or goes on following it, and copies its output to stdout.
final class Follower {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private Follower() {}

    /// Arguments: pid of the sandbox, directory of the table, the script.
    public static void main(String[] args) throws Exception {
        var threads = new HostThreads("follower", 4, 1000);
        var poller = new FdPoller();
        poller.start();
        var link = GuestLink.open(NetNamespace.open(Long.parseLong(args[0]), threads), poller, LIMIT);
        var table = new ProcessTable(
                Path.of(args[1]), link, new Workers(poller, threads, threads, threads), ProcessSettings.DEFAULT);
        table.adopt();
        var known = table.find(new Selector.Tag("followed"));
        var subscription = known.isPresent() ? Subscription.to(known.get()) : table.start(launch(args[2]));
        while (subscription.next(LIMIT) instanceof Output.Data data) {
            System.out.write(data.bytes().toByteArray());
            System.out.flush();
            subscription.sent();
        }
        System.exit(0);
    }

    private static Launch launch(String script) {
        return new Launch(
                List.of("/bin/sh", "-c", script),
                Map.of("PATH", "/usr/bin:/bin"),
                Map.of(),
                "/tmp",
                "root",
                0,
                0,
                List.of(),
                null,
                false,
                "followed",
                null);
    }
}
