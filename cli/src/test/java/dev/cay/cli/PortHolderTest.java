package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.cli.local.PortHolder;
import dev.cay.config.CayConfig;
import dev.cay.testing.Fast;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.Test;

@Fast
final class PortHolderTest {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    @Test
    void findsTheProcessThatListens() throws IOException {
        try (var socket = new ServerSocket(0, 1, LOOPBACK)) {
            assertThat(PortHolder.find(socket.getLocalPort()))
                    .hasValueSatisfying(holder -> assertThat(holder.pid())
                            .isEqualTo(ProcessHandle.current().pid()));
        }
    }

    @Test
    void aConnectionIsNoListener() {
        var table = List.of(
                "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
                "   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1 0",
                "   1: 0100007F:0BB8 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 222 1 0",
                "   2: 0100007F:0BB9 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 333 1 0");
        assertThat(PortHolder.listening(table, 3000)).containsExactly("111");
    }

    @Test
    void aTakenPortIsOneSentenceWithItsHolder() throws IOException {
        try (var taken = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
            int port = taken.getLocalPort();
            var http = new CayConfig.Http(List.of("127.0.0.1"), port, port, "x", null, null, List.of());
            assertThatThrownBy(() -> Listening.check(http))
                    .hasMessageMatching("port %d is taken by .+ \\(pid %d\\); .* with --port"
                            .formatted(port, ProcessHandle.current().pid()));
        }
    }

    @Test
    void anAddressOfAnotherHostIsRefused() {
        var http = new CayConfig.Http(List.of("192.0.2.1"), 13_579, 13_580, "x", null, null, List.of());
        assertThatThrownBy(() -> Listening.check(http)).hasMessageContaining("no address 192.0.2.1");
    }
}
