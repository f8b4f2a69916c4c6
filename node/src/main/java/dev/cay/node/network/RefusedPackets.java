package dev.cay.node.network;

import dev.cay.node.linux.NetfilterLog;
import java.io.IOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The thread that hears of packets which the firewall refused. The firewall limits how many those are for each
/// sandbox. Where the kernel cannot tell, nobody hears of them.
final class RefusedPackets implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RefusedPackets.class);

    /// The headers of IPv4, with all options, and of TCP.
    static final int LENGTH = 96;

    private static final int LONG = 3_600_000;

    private final int group;
    private final Consumer<NetfilterLog.Packet> told;
    private volatile @Nullable NetfilterLog packets;
    private volatile boolean closed;

    /// @param group that the firewall logs to
    RefusedPackets(int group, Consumer<NetfilterLog.Packet> told) {
        this.group = group;
        this.told = told;
    }

    void start() {
        try {
            var opened = NetfilterLog.open(group, LENGTH);
            packets = opened;
            Thread.ofPlatform().daemon().name("refused-packets").start(() -> work(opened));
        } catch (IOException e) {
            log.atInfo()
                    .setCause(e)
                    .addKeyValue("group", group)
                    .log("egress logs do not have what the firewall refuses, as the kernel does not tell");
        }
    }

    private void work(NetfilterLog opened) {
        try (opened) {
            while (!closed) {
                opened.receive(LONG, told);
            }
        } catch (IOException | RuntimeException e) {
            log.atWarn().setCause(e).log("egress logs do not have what the firewall refuses any more");
        }
    }

    @Override
    public void close() {
        closed = true;
        var opened = packets;
        if (opened != null) {
            opened.wake();
        }
    }
}
